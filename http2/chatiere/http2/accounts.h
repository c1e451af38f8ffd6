/* What the clients of a server cost, by address; shared by endpoints, each of which has a thread. */
#ifndef CHATIERE_ACCOUNTS_H
#define CHATIERE_ACCOUNTS_H

#include <netinet/in.h>
#include <stddef.h>

/* Cost that is owed, at a time; it is paid at a pace. */
typedef struct debt {
    double cost, at;
} debt;

typedef struct account account;
typedef struct accounts accounts;

/* `pace`: the cost a second that a connection may have, and an address. `most`: the debt with which a connection ends.
 * NULL: no memory. */
accounts *accounts_new(double pace, double most);
/* Give them up, once none is open. */
void accounts_free(accounts *accounts);
/* Pay a debt as time has passed, and add to it; returns what is owed. */
double accounts_owed(const accounts *accounts, debt *debt, double cost, double now);
double accounts_most(const accounts *accounts);
/* Forget the accounts of addresses that have no connection and owe nothing; once a second at most. */
void accounts_sweep(accounts *accounts, double now);

/* The addresses that count as one: an IPv4 address alone, in either notation; an IPv6 address with its /64. */
struct in6_addr address_group(const struct in6_addr *address);
/* Take the account of an address for one more of its connections. NULL: no memory. */
account *account_open(accounts *accounts, const struct in6_addr *address);
void account_close(accounts *accounts, account *account);
/* The number of its connections. */
size_t account_connections(const account *account);
/* Add to what the address owes; returns that. */
double account_owed(accounts *accounts, account *account, double cost, double now);

#endif
