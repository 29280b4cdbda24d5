/* The memory of the cache of values (value_cache.h). */
#include "value_cache.h"

#include <string.h>
#include <sys/mman.h>

/* Most decisions need few entries; clearing more would take longer than solving them. */
enum { FIRST_KEYS = 4096, FIRST_VALUES = 512 };

/* Cleared memory of a block. Large pages are used if possible: otherwise the solver would also
 * wait for look-ups of page addresses. */
static void *clear_block(Block *block, size_t size) {
    const size_t large_page = (size_t)1 << 21;
    if (block->size >= size) return memset(block->memory, 0, size);
    if (block->size) munmap(block->memory, block->size);
    *block = (Block){NULL, 0};
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    if (size >= large_page) madvise(memory, size, MADV_HUGEPAGE);
#endif
    *block = (Block){memory, size};
    return memory;
}

static bool clear_table(HashTable *table, uint64_t entry_words, uint64_t capacity) {
    table->words = clear_block(&table->blocks[0], capacity * entry_words * sizeof *table->words);
    table->capacity = capacity;
    table->count = 0;
    return table->words;
}

static bool grow_table(HashTable *table, uint64_t entry_words) {
    HashTable old_table = *table;
    Block *new_block = &table->blocks[old_table.words == table->blocks[0].memory];
    uint64_t *words = clear_block(new_block, 2 * old_table.capacity * entry_words * sizeof *words);
    if (!words) return false;
    table->words = words;
    table->capacity *= 2;
    for (uint64_t i = 0; i < old_table.capacity * entry_words; i += entry_words) {
        if (!old_table.words[i]) continue;
        uint64_t *entry = find_entry(table, entry_words, old_table.words[i]);
        memcpy(entry, old_table.words + i, entry_words * sizeof *entry);
    }
    return true;
}

bool value_cache_clear(ValueCache *cache) {
    return clear_table(&cache->keys, 1, FIRST_KEYS) && clear_table(&cache->values, 2, FIRST_VALUES);
}

bool value_cache_grow(ValueCache *cache) {
    if (is_full(&cache->keys) && !grow_table(&cache->keys, 1)) return false;
    return !is_full(&cache->values) || grow_table(&cache->values, 2);
}

static void free_table(HashTable *table) {
    for (int i = 0; i < 2; i++) {
        if (table->blocks[i].size) munmap(table->blocks[i].memory, table->blocks[i].size);
    }
}

void value_cache_free(ValueCache *cache) {
    free_table(&cache->keys);
    free_table(&cache->values);
}
