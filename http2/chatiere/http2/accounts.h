/* What the clients of a server cost, by address, at Unix sockets by user; shared by endpoints, each with a thread. */
#ifndef CHATIERE_ACCOUNTS_H
#define CHATIERE_ACCOUNTS_H

#include <netinet/in.h>
#include <stddef.h>

/* Cost that is owed, at a time; it is paid at a pace. */
struct debt {
    double cost, at;
};

struct account;
struct accounts;

/* `pace`: the cost a second that a connection may have, and an address. `max_debt`: the debt with which a
 * connection ends. NULL: no memory. */
struct accounts *accounts_new(double pace, double max_debt);
/* Give them up, once none is open. */
void accounts_free(struct accounts *accounts);
/* Pay a debt as time has passed, and add to it; returns what is owed. */
double accounts_owed(const struct accounts *accounts, struct debt *debt, double cost, double now);
double accounts_max_debt(const struct accounts *accounts);
/* Forget the accounts of addresses that have no connection and owe nothing; once a second at most. */
void accounts_sweep(struct accounts *accounts, double now);

/* The addresses that count as one: an IPv4 address alone, in either notation; an IPv6 address with its /64. */
struct in6_addr address_group(const struct in6_addr *address);
/* Take the account of an address for one more of its connections. NULL: no memory. */
struct account *account_open(struct accounts *accounts, const struct in6_addr *address);
void account_close(struct accounts *accounts, struct account *account);
/* The number of its connections. */
size_t account_connections(const struct account *account);
/* Add to what the address owes; returns that. */
double account_owed(struct accounts *accounts, struct account *account, double cost, double now);

#endif
