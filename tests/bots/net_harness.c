/* Evaluates positions with net.c. `net_harness FILE` reads a file that test_integer_network.py wrote, and prints the
 * values and logits. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>

static void *array(FILE *file, size_t *bytes)
{
    uint32_t size;
    void *data;
    if (fread(&size, 4, 1, file) != 1 || (data = malloc(size + 8)) == NULL || fread(data, 1, size, file) != size)
        exit(1);
    *bytes = size;
    return data;
}

int main(int argc, char **argv)
{
    size_t bytes;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL)
        return 1;
    const uint32_t *sizes = array(file, &bytes);
    Net net = {
        .length = (int32_t)sizes[0],
        .num_first = (int32_t)sizes[1],
        .num_second = (int32_t)sizes[2],
        .num_runs = (int32_t)sizes[3],
        .num_values = (int32_t)sizes[4],
        .hand = (int32_t)sizes[5],
        .cards = (int32_t)sizes[6],
    };
    net.fields = array(file, &bytes);
    net.fields_of = array(file, &bytes);
    net.columns = array(file, &bytes);
    net.first_bias = array(file, &bytes);
    net.second = array(file, &bytes);
    net.second_bias = array(file, &bytes);
    net.runs = array(file, &bytes);
    net.rows = array(file, &bytes);
    net.rows_bias = array(file, &bytes);
    net.values = array(file, &bytes);
    net.values_bias = array(file, &bytes);
    const uint8_t *observations = array(file, &bytes);
    const uint32_t *offsets = array(file, &bytes);
    const uint32_t count = (uint32_t)(bytes / 4 - 1);
    const uint16_t *ids = array(file, &bytes);
    int32_t *logits = malloc(65536 * 4), *values = malloc(65536 * 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t legal = offsets[i + 1] - offsets[i];
        if (!net_evaluate(&net, observations + i * sizes[0], ids + offsets[i], (int32_t)legal, logits, values))
            return 1;
        for (uint32_t j = 0; j < sizes[4]; j++)
            printf("%d ", values[j]);
        for (uint32_t j = 0; j < legal; j++)
            printf("%d ", logits[j]);
        printf("\n");
    }
    return 0;
}
