/* The functions that the C files of a connection share. connection.h declares those for its owners. */
#ifndef CHATIERE_INTERNAL_H
#define CHATIERE_INTERNAL_H

#include "connection.h"

#include <sys/types.h>

/* Frames are serialized only while fewer than this number of bytes wait for the socket. */
#define ENOUGH (64 * 1024)
#define MAX_TRAILERS 8

/* Hidden functions are called directly, without a table of addresses. */
#pragma GCC visibility push(hidden)

/* callbacks.c */

/* Return nghttp2's callbacks for a connection; NULL if there is no memory. */
nghttp2_session_callbacks *callbacks_new(void);
/* The callback that returns the size of a stream's next DATA frame. The source of the data is the stream. */
ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t size, uint32_t *flags,
                nghttp2_data_source *source, void *data);

/* connection.c */

/* Add a connection to the list of changed connections. */
void connection_mark_changed(struct connection *connection);

/* frames.c */

/* Track where frames begin and end, because libnghttp2 has no callback for frames that it ignores. */
void frames_walk(struct connection *connection, size_t size, const uint8_t *at);
/* Remember that the client has ended or reset a stream. The client must not send further frames on this stream. */
void frames_remember_gone(struct connection *connection, int32_t id);
/* Mark a connection to be ended because of too many bytes of headers. `begun` is the stream of the request to refuse
 * before the connection ends, or 0 if the headers do not begin a request. */
void frames_set_excess_of_headers(struct connection *connection, int32_t begun);

/* messages.c */

/* Process received bytes of messages. Bytes that were read directly into the message are not copied. */
int messages_take_bytes(struct stream *stream, const uint8_t *at, size_t size);
/* Handle the end of the stream's messages. */
void messages_end(struct stream *stream);
/* Free all messages that have not been taken. */
void messages_drop(struct stream *stream);
/* Set the fault of a stream, unless it already has one. */
void stream_set_fault(struct stream *stream, enum fault fault);

/* output.c */

/* Add a copy of the bytes to the output. */
int output_put(struct connection *connection, const uint8_t *data, size_t size);
/* Add bytes to the output, without copying them. `lender` is NULL unless they are the last ones of its piece. */
int output_put_lent(struct connection *connection, const uint8_t *data, size_t size, void *lender);
/* If the output already contains part of a lent piece, release the lender's memory only after that part has been sent.
 * The part is the one that ends where the rest of the piece begins. */
void output_keep_begun_piece(struct stream *stream);
/* Free a piece; a lent piece is added to shared.released instead. */
void piece_release(struct shared *shared, struct piece *piece);

/* stream.c */

/* Create a stream of a connection; NULL if there is no memory. */
struct stream *stream_new(struct connection *connection);
/* Separate a stream from its connection. `error` is the HTTP/2 error code. */
void stream_close(struct stream *stream, uint32_t error);
/* Add a stream to the list of ready streams. */
void stream_mark_ready(struct stream *stream);
/* Convert at most `most` fields to nghttp2's form. Returns the number of converted fields. */
size_t fields_list(const struct fields *fields, nghttp2_nv *list, size_t most, uint8_t flags);

#pragma GCC visibility pop

#endif
