# A function that clears memory by the C library. If GCC knows the size, it clears a few hundred bytes with a string
# instruction. Such an instruction is slow to start. The function therefore hides the size from the compiler.
cdef extern from * nogil:
    """
    #include <string.h>

    static inline void chatiere_clear(void* place, size_t size) {
        __asm__("" : "+r"(size));
        memset(place, 0, size);
    }
    """
    void clear "chatiere_clear"(void* place, size_t size) noexcept
