#include "net.h"

#include <string.h>

static void add_column(int32_t *restrict sums, const int16_t *restrict column, int32_t size)
{
    for (int32_t i = 0; i < size; i++)
        sums[i] += column[i];
}

static void add_column_times(int32_t *restrict sums, const int16_t *restrict column, int32_t size, int32_t times)
{
    for (int32_t i = 0; i < size; i++)
        sums[i] += times * column[i];
}

/* Add the columns for a byte that is not 0. Return 0 if one of its numbers is larger than its field's `largest`. */
static int add_byte(const Net *net, int32_t place, uint8_t byte, int32_t *sums)
{
    const int32_t size = net->num_first;
    for (uint32_t i = net->fields_of[place]; i < net->fields_of[place + 1]; i++) {
        const NetField *field = &net->fields[i];
        int32_t number = byte >> field->shift & field->mask;
        const int16_t *column = net->columns + (int64_t)field->first * size;
        if (number == 0)
            continue;
        if (number > field->largest)
            return 0;
        if (field->kind == NET_CATEGORY)
            add_column(sums, column + (int64_t)(number - 1) * size, size);
        else if (field->kind == NET_COUNT)
            add_column_times(sums, column, size, number);
        else
            for (; number; number >>= 1, column += size)
                if (number & 1)
                    add_column(sums, column, size);
    }
    return 1;
}

static int16_t activation(int32_t sum, int32_t shift)
{
    if (sum <= 0)
        return 0;
    sum >>= shift;
    return (int16_t)(sum < NET_ONE ? sum : NET_ONE);
}

static int32_t dot(const int16_t *restrict weights, const int16_t *restrict inputs, int32_t size)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < size; i++)
        sum += weights[i] * inputs[i];
    return sum;
}

static void compute_group(const Net *net, uint32_t group, const int16_t *first, int16_t *second)
{
    const int64_t begun = (int64_t)group * net->num_second;
    for (int32_t i = 0; i < net->num_second; i++) {
        int32_t sum = net->second_bias[begun + i] + dot(net->second + (begun + i) * net->num_first, first, net->num_first);
        second[i] = activation(sum, NET_HIDDEN_SHIFT);
    }
}

static int32_t logit_of(const Net *net, int64_t row, const int16_t *second)
{
    return net->rows_bias[row] + dot(net->rows + row * net->num_second, second, net->num_second);
}

/* Fill in the number of the card in each slot, or -1 if the slot is empty. */
static void find_hand(const Net *net, const uint8_t *observation, int32_t *hand)
{
    int32_t count = 0;
    for (int32_t card = 0; card < net->cards && count < NET_MAX_SLOTS; card++)
        if (observation[net->hand + card] != 0)
            hand[count++] = card;
    while (count < NET_MAX_SLOTS)
        hand[count++] = -1;
}

/* Return the logit of an action of the kind NET_PLAY, from the sum of its rows. */
static int32_t logit_of_play(const Net *net, const NetRun *run, uint32_t play, const int32_t *hand,
                             const int16_t *second)
{
    const uint32_t top = play >> (run->size - 1);
    const int64_t others = (int64_t)run->row + net->cards;
    int32_t sum = hand[top] < 0 ? 0 : logit_of(net, (int64_t)run->row + hand[top], second), number = 0;
    for (uint32_t k = 0; k + 1 < run->size; k++)
        if (play >> k & 1) {
            const int32_t card = hand[k + (k >= top)];
            sum += card < 0 ? 0 : logit_of(net, others + card, second);
            number++;
        }
    return sum + logit_of(net, others + net->cards + number, second);
}

static int32_t logit_of_action(const Net *net, const NetRun *run, uint32_t action, const int32_t *hand,
                               const int16_t *second)
{
    const int64_t row = run->row;
    switch (run->kind) {
    case NET_SLOT:
        return hand[action] < 0 ? 0 : logit_of(net, row + hand[action], second);
    case NET_PLAY:
        return logit_of_play(net, run, action, hand, second);
    default:
        return logit_of(net, row + action, second);
    }
}

int net_evaluate(const Net *net, const uint8_t *observation, const uint16_t *legal, int32_t count, int32_t *logits,
                 int32_t *values)
{
    int32_t sums[NET_MAX_FIRST];
    int16_t first[NET_MAX_FIRST], second[NET_MAX_SECOND];
    int32_t hand[NET_MAX_SLOTS];
    int32_t place = 0, run = 0;
    uint32_t group = 0;
    memcpy(sums, net->first_bias, (size_t)net->num_first * sizeof(int32_t));
    while (place < net->length) {
        uint64_t eight;
        /* Skip eight zeros at a time, because most numbers are 0. */
        if (place + 8 <= net->length) {
            memcpy(&eight, observation + place, 8);
            if (eight == 0) {
                place += 8;
                continue;
            }
        }
        for (int32_t end = place + 8 < net->length ? place + 8 : net->length; place < end; place++)
            if (observation[place] != 0 && !add_byte(net, place, observation[place], sums))
                return 0;
    }
    for (int32_t i = 0; i < net->num_first; i++)
        first[i] = activation(sums[i], NET_INPUT_SHIFT);
    compute_group(net, group, first, second);
    for (int32_t i = 0; i < net->num_values; i++)
        values[i] = net->values_bias[i] + dot(net->values + (int64_t)i * net->num_second, second, net->num_second);
    find_hand(net, observation, hand);
    for (int32_t i = 0; i < count; i++) {
        while (run + 1 < net->num_runs && net->runs[run + 1].first <= legal[i])
            run++;
        if (net->runs[run].group != group) {
            group = net->runs[run].group;
            compute_group(net, group, first, second);
        }
        logits[i] = logit_of_action(net, &net->runs[run], legal[i] - net->runs[run].first, hand, second);
    }
    return 1;
}
