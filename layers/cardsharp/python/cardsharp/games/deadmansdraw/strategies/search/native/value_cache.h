/* A cache of values of positions by their hashes, which forgets nothing until it is cleared.
 *
 * A solver reads it in no order, so most of its time is waiting for memory. Nine of ten positions
 * are a sure win or a sure loss, and take eight bytes. All other values are in a second table. */
#ifndef CARDSHARP_VALUE_CACHE_H
#define CARDSHARP_VALUE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lowest bits of a stored key. A key that is not stored has 0 there. */
enum { EMPTY, SURE_LOSS, SURE_WIN, OTHER_VALUE, KIND_BITS = 3 };

typedef struct { void *memory; size_t size; } Block;

/* Open addressing with linear probing, in one of the two blocks: it grows into the other one. */
typedef struct {
    uint64_t *words; /* `entry_words` for each entry; the first is its key, or 0 */
    uint64_t capacity, count;
    Block blocks[2];
} HashTable;

typedef struct {
    HashTable keys, values; /* `values` has the keys with OTHER_VALUE again, and their values */
} ValueCache;

/* Clears the cache, which may be all zeros at first; its memory is kept. */
bool value_cache_clear(ValueCache *cache);
void value_cache_free(ValueCache *cache);
/* Makes room for one more entry; returns false if there is no memory. */
bool value_cache_grow(ValueCache *cache);

static inline uint64_t *find_entry(const HashTable *table, uint64_t entry_words, uint64_t key) {
    uint64_t index = key >> 2 & (table->capacity - 1), *entry = table->words + entry_words * index;
    while (*entry && (*entry ^ key) > KIND_BITS) {
        index = (index + 1) & (table->capacity - 1);
        entry = table->words + entry_words * index;
    }
    return entry;
}

static inline bool is_full(const HashTable *table) {
    return 4 * table->count >= 3 * table->capacity;
}

/* The stored key of a position; EMPTY if it has none. */
static inline uint64_t stored_key(const ValueCache *cache, uint64_t key) {
    return *find_entry(&cache->keys, 1, key);
}

static inline double stored_value(const ValueCache *cache, uint64_t stored) {
    if ((stored & KIND_BITS) != OTHER_VALUE) return (stored & KIND_BITS) == SURE_WIN ? 1.0 : 0.0;
    union { uint64_t word; double value; } bits = {find_entry(&cache->values, 2, stored)[1]};
    return bits.value;
}

/* Stores the value of a position without one; returns false if there is no memory. */
static inline bool store_value(ValueCache *cache, uint64_t key, double value) {
    union { double value; uint64_t word; } bits = {value};
    key |= value == 0.0 ? SURE_LOSS : value == 1.0 ? SURE_WIN : OTHER_VALUE;
    *find_entry(&cache->keys, 1, key) = key;
    cache->keys.count++;
    if ((key & KIND_BITS) == OTHER_VALUE) {
        uint64_t *entry = find_entry(&cache->values, 2, key);
        entry[0] = key;
        entry[1] = bits.word;
        cache->values.count++;
    }
    return !(is_full(&cache->keys) || is_full(&cache->values)) || value_cache_grow(cache);
}

#endif
