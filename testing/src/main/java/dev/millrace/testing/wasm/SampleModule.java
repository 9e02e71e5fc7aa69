package dev.millrace.testing.wasm;

import static dev.millrace.testing.wasm.WasmAssembler.F32;
import static dev.millrace.testing.wasm.WasmAssembler.F64;
import static dev.millrace.testing.wasm.WasmAssembler.I32;
import static dev.millrace.testing.wasm.WasmAssembler.I64;
import static dev.millrace.testing.wasm.WasmAssembler.types;

/** A module with what functions of users do, well and badly. */
public final class SampleModule {
    private SampleModule() {}

    public static byte[] bytes() {
        return of().build();
    }

    private static WasmAssembler of() {
        WasmAssembler module = new WasmAssembler().memory(1).global(1024);
        // a * b + a, with b made a double; a xor b; a + b; -a; a and b
        module.function("scaled", types(F64, I64), types(F64), 0x20, 0, 0x20, 1, 0xb9, 0xa2, 0x20, 0, 0xa0);
        module.function("negated", types(F64), types(F64), 0x20, 0, 0x9a);
        module.function("mixed", types(I64, I64), types(I64), 0x20, 0, 0x20, 1, 0x85);
        module.function("mixed32", types(I32, I32), types(I32), 0x20, 0, 0x20, 1, 0x73);
        module.function("negated32", types(F32), types(F32), 0x20, 0, 0x8c);
        module.function("both", types(I32, I32), types(I32), 0x20, 0, 0x20, 1, 0x71);
        module.function("divided", types(I64, I64), types(I64), 0x20, 0, 0x20, 1, 0x7f);
        module.function("added", types(I32, I32), types(I32), 0x20, 0, 0x20, 1, 0x6a);
        // loop; unreachable; itself without end; memory.grow; i32.load
        module.function("spins", types(I64), types(I64), 0x03, 0x40, 0x0c, 0, 0x0b, 0x42, 0);
        module.function(
                "spins_at_3",
                types(I64),
                types(I64),
                0x20,
                0,
                0x42,
                3,
                0x51,
                0x04,
                0x40,
                0x03,
                0x40,
                0x0c,
                0,
                0x0b,
                0x0b,
                0x20,
                0);
        module.function("breaks", types(I64), types(I64), 0x00);
        module.function("nests", types(I64), types(I64), 0x20, 0, 0x10, 11, 0x42, 1, 0x7c);
        module.function("grows", types(I32), types(I32), 0x20, 0, 0x40, 0);
        module.function("loads", types(I32), types(I32), 0x20, 0, 0x28, 2, 0);
        module.function("same64", types(I64), types(I64), 0x20, 0);
        module.function("alloc", types(I32), types(I32), 0x23, 0, 0x23, 0, 0x20, 0, 0x6a, 0x24, 0);
        module.function("free", types(I32, I32), types(), 0x41, 0x80, 0x08, 0x24, 0); // 1024: all of it
        module.function("same", types(I32, I32), types(I64), 0x20, 0, 0xad, 0x42, 32, 0x86, 0x20, 1, 0xad, 0x84);
        // for (i = 0; i < length; i++) to[i] = from[length - 1 - i], where to is what alloc gives
        module.function(
                "reversed",
                types(I32, I32),
                types(I64),
                types(I32, I32),
                0x20,
                1,
                0x10,
                15,
                0x21,
                2, // to = alloc(length)
                0x02,
                0x40,
                0x03,
                0x40,
                0x20,
                3,
                0x20,
                1,
                0x4f,
                0x0d,
                1, // block, loop, br_if i >= length
                0x20,
                2,
                0x20,
                3,
                0x6a, // to + i
                0x20,
                0,
                0x20,
                1,
                0x6a,
                0x41,
                1,
                0x6b,
                0x20,
                3,
                0x6b,
                0x2d,
                0,
                0, // from[..]
                0x3a,
                0,
                0,
                0x20,
                3,
                0x41,
                1,
                0x6a,
                0x21,
                3,
                0x0c,
                0,
                0x0b,
                0x0b,
                0x20,
                2,
                0xad,
                0x42,
                32,
                0x86,
                0x20,
                1,
                0xad,
                0x84);
        module.function("outside", types(I32, I32), types(I64), 0x42, 0x7e); // 4 GB less 2 bytes at the end of 4 GB
        module.function("nothing", types(I32, I32), types(I64), 0x42, 0x7f);
        return module;
    }
}
