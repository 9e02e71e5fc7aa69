package dev.millrace.expressions.wasm;

import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.runtime.WasmRuntimeException;
import dev.millrace.text.TextBuffer;
import java.util.NoSuchElementException;

/**
 * A module with a memory of its own, for one thread at a time. A value goes to a function and comes from it as 64 bits: an i32 is the
 * lower half, a float its IEEE 754 bits. Bytes are written where the module's {@code alloc} says, and are the module's from then on,
 * until {@code free}, if there is one, is told of them.
 *
 * <p>A call that fails, by whatever {@link RuntimeException} or {@link Error}, leaves the memory as it then was: the instance is not to
 * be called again.
 */
public final class WasmInstance {
    static final String ALLOC = "alloc";
    static final String FREE = "free";

    private static final long PAGE_BYTES = 1 << 16;

    private final WasmCode code;
    private final Instance instance;
    private final Machine machine;
    private final int alloc;
    private final int free;
    private final long[] one = new long[1];
    private final long[] two = new long[2];
    private byte[] bytes = new byte[256];

    WasmInstance(WasmCode code, Instance instance) {
        this.code = code;
        this.instance = instance;
        this.machine = instance.getMachine();
        this.alloc = code.index(ALLOC).orElse(-1);
        this.free = code.index(FREE).orElse(-1);
    }

    /** The number by which a function is called. */
    public int function(String export) {
        return code.index(export).orElseThrow(() -> new NoSuchElementException(export));
    }

    /** Calls a function of one result. */
    public long call(int function, long[] arguments) {
        return machine.call(function, arguments)[0];
    }

    /** Copies bytes into the memory and gives their address there. */
    public int put(long address, int length) {
        one[0] = length;
        int at = (int) call(alloc, one);
        check(at, length);
        if (bytes.length < length) {
            bytes = new byte[Math.max(length, 2 * bytes.length)];
        }
        dev.millrace.memory.Memory.copyOut(address, bytes, 0, length);
        if (length > 0) {
            memory().write(at, bytes, 0, length);
        }
        return at;
    }

    /** Appends bytes of the memory. */
    public void get(int at, int length, TextBuffer out) {
        check(at, length);
        if (length > 0) {
            out.append(memory().readBytes(at, length));
        }
    }

    /** Says that bytes are no longer needed. */
    public void free(int at, int length) {
        if (free >= 0) {
            two[0] = at;
            two[1] = length;
            machine.call(free, two);
        }
    }

    private Memory memory() {
        return instance.memory();
    }

    /** Both are unsigned in WebAssembly, and come from the module. */
    private void check(int at, int length) {
        long first = Integer.toUnsignedLong(at);
        if (length < 0 || first + length > memory().pages() * PAGE_BYTES) {
            throw new WasmRuntimeException(Integer.toUnsignedLong(length) + " bytes at " + first
                    + " are outside of its memory of " + memory().pages() * PAGE_BYTES);
        }
    }
}
