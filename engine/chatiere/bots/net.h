/* A small network in integers. It gives the same outputs on every processor. It is plain C without Python, so that a
 * cross compiler can build it.
 *
 * The inputs are the numbers of an observation that are not 0. Each input adds columns of the first layer. The second
 * layer has groups of units. Each run of actions (actions with consecutive ids) uses one group. The logit of an action
 * is computed from a row of weights or from the sum of several rows. Actions of several runs may share a row. Group 0
 * is always computed, because the seats' expected returns depend on it. Other groups, and the rows, are computed only
 * for legal actions.
 *
 * Activations range from 0 to NET_ONE, which represents 1. Weights are int16, in units of 2^-12 in the first two layers
 * and of 2^-10 for actions and values. Sums are int32 in units of the products, so NET_OUTPUT_ONE represents a logit or
 * a value of 1. The code that fills in a Net ensures that no sum can exceed the range of int32. */
#ifndef CHATIERE_NET_H
#define CHATIERE_NET_H

#include <stdint.h>

enum {
    NET_ONE = 127,
    NET_INPUT_SHIFT = 5,
    NET_HIDDEN_SHIFT = 12,
    NET_OUTPUT_ONE = 1 << 17,
    NET_MAX_FIRST = 256,
    NET_MAX_SECOND = 64,
    NET_MAX_SLOTS = 8
};

/* The effect of a number n > 0 in an observation */
enum {
    NET_CATEGORY, /* adds the column first + n - 1 */
    NET_COUNT,    /* adds n times the column first */
    NET_BITS      /* adds the column first + b for each bit b that is set */
};

typedef struct {
    uint32_t first;
    uint8_t kind;
    uint8_t shift; /* the position of the field's lowest bit in a byte of the observation */
    uint8_t mask;
    uint8_t largest;
} NetField;

/* How the logit of action first + i of a run is computed. Row r below is the row with the index NetRun.row + r. Slots
 * have the first NET_MAX_SLOTS cards of the hand, by ascending number. An empty slot adds 0. */
enum {
    NET_OWN_ROW, /* from row i; size is 0 */
    NET_SLOT,    /* from row c, where c is the number of the card in slot i; size is the number of slots */
    NET_PLAY     /* from the sum of several rows, where i = t << (size - 1) | m and size is the number of slots: row c
                  * for the card c in slot t, row cards + c for each card c in another slot whose bit in m is set (bit k
                  * for the k-th other slot), and row 2 * cards + b, where b is the number of bits set in m */
};

/* A run: actions with consecutive ids, up to the first action of the next run. Runs are in ascending order. */
typedef struct {
    uint32_t first; /* the first action */
    uint32_t row;
    uint32_t group;
    uint16_t kind;
    uint16_t size;
} NetRun;

typedef struct {
    int32_t length;            /* the length of an observation */
    const uint32_t *fields_of; /* [length + 1]: byte i has the fields fields_of[i] … fields_of[i + 1] - 1 */
    const NetField *fields;
    int32_t hand;  /* the offset in an observation of the flags for the hand's cards, one byte each */
    int32_t cards; /* the number of these flags */
    int32_t num_first;
    const int16_t *columns; /* [columns][num_first] */
    const int32_t *first_bias;
    int32_t num_second;          /* the number of units in a group */
    const int16_t *second;       /* [groups][num_second][num_first] */
    const int32_t *second_bias;  /* [groups][num_second] */
    int32_t num_runs;
    const NetRun *runs;
    const int16_t *rows; /* [rows][num_second] */
    const int32_t *rows_bias;
    int32_t num_values;
    const int16_t *values; /* [num_values][num_second] */
    const int32_t *values_bias;
} Net;

/* Compute the logits of `count` legal actions, and the values. The actions must be ascending. Return 1 on success.
 * Return 0 and write nothing if a number of the observation is larger than its field's `largest`. */
int net_evaluate(const Net *net, const uint8_t *observation, const uint16_t *legal, int32_t count, int32_t *logits,
                 int32_t *values);

#endif
