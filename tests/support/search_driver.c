/* A program that asks a library of the compiled search what its input says, so that a library of
 * another processor can run under an emulator.
 *
 *     search_driver LIBRARY MODEL NETWORK < questions > answers
 *
 * MODEL and NETWORK are files with the weights as the library reads them. A question is its kind, the
 * limits and the query, and its answer the value, the number of nodes and the value of each card. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BEGIN_ENDGAME, ASK_ENDGAME, ASK_SEARCH }; /* kinds of questions */
enum { VALUES = 61 };                            /* of each card; the last is the number of leaves */

typedef struct {
    int64_t kind;
    int64_t max_nodes; /* of the endgame that begins */
    int32_t limits[6];
    uint64_t sets[6];
    int32_t numbers[6];
} Question;

typedef struct {
    double value;
    int64_t nodes;
    double values[VALUES];
} Answer;

static void *library;

static void *find(const char *name) {
    void *symbol = dlsym(library, name);
    if (symbol) return symbol;
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
}

static void *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) exit(2);
    size_t size = (size_t)ftell(file);
    void *content = malloc(size);
    rewind(file);
    if (!content || fread(content, 1, size, file) != size) exit(2);
    fclose(file);
    return content;
}

int main(int count, char **arguments) {
    if (count != 4) return 3;
    library = dlopen(arguments[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    void *(*new_layer)(const void *) = find("layer_of_whole");
    void *(*new_search)(const void *, void *) = find("search_beside");
    double (*ask_search)(void *, const void *, const void *, double *) = find("search_answer");
    void *(*new_endgame)(int64_t) = find("exact_rough");
    void (*begin_endgame)(void *, int64_t) = find("exact_begin");
    double (*ask_endgame)(void *, const void *) = find("exact_answer");
    int64_t (*count_nodes)(const void *) = find("exact_nodes");
    void *search = new_search(read_file(arguments[2]), new_layer(read_file(arguments[3])));
    void *endgame = new_endgame(0);
    Question question;
    while (fread(&question, sizeof question, 1, stdin) == 1) {
        Answer answer = {0};
        if (question.kind == BEGIN_ENDGAME) begin_endgame(endgame, question.max_nodes);
        if (question.kind == ASK_ENDGAME) answer.value = ask_endgame(endgame, question.sets);
        if (question.kind == ASK_SEARCH) {
            answer.value = ask_search(search, question.limits, question.sets, answer.values);
        }
        answer.nodes = count_nodes(endgame);
        fwrite(&answer, sizeof answer, 1, stdout);
        fflush(stdout);
    }
    return 0;
}
