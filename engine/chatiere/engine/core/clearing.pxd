# Memory set to zero by the C library: of a size that it knows, GCC clears some hundred bytes by a string instruction,
# which is slow to begin. So it is not to know it.
cdef extern from * nogil:
    """
    #include <string.h>

    static inline void chatiere_clear(void* place, size_t size) {
        __asm__("" : "+r"(size));
        memset(place, 0, size);
    }
    """
    void clear "chatiere_clear"(void* place, size_t size) noexcept
