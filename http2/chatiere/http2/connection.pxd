# Declarations from connection.h, accounts.h and endpoint.h. The headers document them.
from libc.stdint cimport int32_t, uint8_t, uint32_t


cdef extern from "connection.h" nogil:
    enum fault:
        FAULT_NONE
        FAULT_HTTP_METHOD
        FAULT_CONTENT_TYPE
        FAULT_TIMEOUT
        FAULT_HEADERS
        FAULT_ENCODING
        FAULT_COMPRESSED
        FAULT_SIZE
        FAULT_COUNT
        FAULT_PREFIX
        FAULT_BREAKS_OFF

    struct message:
        size_t size
        uint8_t* content

    struct piece:
        piece* next
        void* lender

    struct fields:
        uint8_t* data
        size_t size
        size_t capacity

    struct connection:
        size_t stream_count
        piece* first_lent
        bint is_at_end
        bint is_broken
        size_t unsent
        int32_t last_taken
        const char* words

    struct stream:
        connection* connection
        void* owner
        int path
        double timeout
        fault fault
        bint has_head
        bint has_ended
        bint is_closed
        bint is_watched
        bint is_answered
        bint is_finished
        uint32_t error
        fields head
        fields tail
        message* coming
        message* first
        unsigned waiting
        size_t to_send
        size_t held

    struct shared:
        piece* released
        size_t held
        double now
        size_t max_size

    connection* connection_new(shared* shared, int fd, bint is_server, uint32_t max_streams)
    void connection_free(connection* connection)
    long connection_read(connection* connection, uint8_t* buffer, size_t size)
    long connection_write(connection* connection)
    bint connection_is_behind(const connection* connection)
    bint connection_is_over(const connection* connection)
    void connection_leave(connection* connection, uint32_t error, const char* words)
    stream* next_ready(shared* shared)
    stream* next_finished(shared* shared)
    message* stream_take(stream* stream)
    void message_free(message* message)
    int stream_begin_message(stream* stream, size_t size)
    int stream_copy(stream* stream, const uint8_t* data, size_t size)
    int stream_lend(stream* stream, const uint8_t* data, size_t size, void* lender)
    int stream_push(stream* stream)
    int fields_add(fields* fields, const char* name, size_t name_size, const char* value, size_t value_size)
    bint is_reserved(const uint8_t* name, size_t size)
    int stream_answer(stream* stream, const char* language)
    int stream_finish(stream* stream)
    int stream_refuse(stream* stream, const char* status)
    stream* stream_request(connection* connection, const fields* head)
    void stream_reset(stream* stream, uint32_t error)
    void stream_free(stream* stream)
    const char* nghttp2_http2_strerror(uint32_t error)
    const char* nghttp2_strerror(int error)


cdef extern from "accounts.h" nogil:
    struct accounts:
        pass

    accounts* accounts_new(double pace, double max_debt)
    void accounts_free(accounts* accounts)


cdef extern from "endpoint.h" nogil:
    struct endpoint:
        shared shared
        size_t max_connections
        uint32_t max_streams
        double greeting
        double idle
        double max_age
        double age_grace
        double long_turn
        size_t peer_count
        int trouble
        size_t unsent

    endpoint* endpoint_new(
        const int* listening,
        int count,
        const size_t* max_sizes,
        const char* const* paths,
        int path_count,
        accounts* accounts,
    )
    void endpoint_end_all(endpoint* endpoint)
    void endpoint_free(endpoint* endpoint)
    bint endpoint_turn(endpoint* endpoint, double seconds)
    void endpoint_wake(endpoint* endpoint)
    bint endpoint_adopt(endpoint* endpoint, connection* connection)
    void endpoint_drain(endpoint* endpoint)
    const char* peer_name(const connection* connection)
    double monotonic()
