package dev.millrace.testing.wasm;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Writes a module in the binary format of WebAssembly (core specification, section 5): functions, one memory, one global, imports. */
public final class WasmAssembler {
    /** Types of values, by their codes. */
    public static final int I32 = 0x7f;

    public static final int I64 = 0x7e;
    public static final int F32 = 0x7d;
    public static final int F64 = 0x7c;

    private record Function(String export, int[] parameters, int[] results, int[] locals, byte[] code) {}

    private final List<Function> functions = new ArrayList<>();
    private final List<byte[]> imports = new ArrayList<>();
    private byte[] memory = {};
    private byte[] global = {};
    private byte[] table = {};
    private int start = -1;

    /** A memory of so many pages at first. */
    public WasmAssembler memory(int pages) {
        memory = new Bytes().add(1, 0).number(pages).toBytes();
        return this;
    }

    /** A table of so many functions. */
    public WasmAssembler table(long elements) {
        table = new Bytes().add(1, 0x70, 0).number(elements).toBytes();
        return this;
    }

    /** A variable i32, which is global 0. */
    public WasmAssembler global(int value) {
        global = new Bytes().add(1, I32, 1, 0x41).signed(value).add(0x0b).toBytes();
        return this;
    }

    /** An imported function without parameters and results. */
    public WasmAssembler imports(String module, String name) {
        imports.add(new Bytes().name(module).name(name).add(0, 0).toBytes());
        return this;
    }

    /** The last function runs when an instance is made. */
    public WasmAssembler start() {
        start = functions.size() - 1;
        return this;
    }

    /**
     * An exported function.
     *
     * @param code instructions without the last {@code end}; numbers in them in LEB128
     */
    public WasmAssembler function(String export, int[] parameters, int[] results, int[] locals, int... code) {
        functions.add(new Function(
                export, parameters, results, locals, new Bytes().add(code).toBytes()));
        return this;
    }

    /** The same without locals. */
    public WasmAssembler function(String export, int[] parameters, int[] results, int... code) {
        return function(export, parameters, results, new int[0], code);
    }

    /** Several types. */
    public static int[] types(int... types) {
        return types;
    }

    public byte[] build() {
        Bytes types = new Bytes().number(functions.size() + 1).add(0x60, 0, 0); // type 0 is that of imports
        Bytes numbers = new Bytes().number(functions.size());
        Bytes exports = new Bytes().number(functions.size());
        Bytes bodies = new Bytes().number(functions.size());
        for (int i = 0; i < functions.size(); i++) {
            Function function = functions.get(i);
            types.add(0x60).number(function.parameters().length).add(function.parameters());
            types.number(function.results().length).add(function.results());
            numbers.number(i + 1);
            exports.name(function.export()).add(0).number(imports.size() + i);
            Bytes body = new Bytes().number(function.locals().length);
            for (int local : function.locals()) {
                body.add(1, local);
            }
            byte[] whole = body.add(function.code()).add(0x0b).toBytes();
            bodies.number(whole.length).add(whole);
        }
        Bytes imported = new Bytes().number(imports.size());
        imports.forEach(imported::add);
        Bytes module = new Bytes().add(0, 'a', 's', 'm', 1, 0, 0, 0).section(1, types.toBytes());
        if (!imports.isEmpty()) {
            module.section(2, imported.toBytes());
        }
        module.section(3, numbers.toBytes());
        module.section(4, table).section(5, memory).section(6, global).section(7, exports.toBytes());
        if (start >= 0) {
            module.section(8, new Bytes().number(imports.size() + start).toBytes());
        }
        return module.section(10, bodies.toBytes()).toBytes();
    }

    private static final class Bytes {
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Bytes add(int... bytes) {
            for (int each : bytes) {
                out.write(each);
            }
            return this;
        }

        Bytes add(byte[] bytes) {
            out.writeBytes(bytes);
            return this;
        }

        /** In LEB128, without a sign. */
        Bytes number(long value) {
            long left = value;
            while (left >= 0x80) {
                out.write((int) (left & 0x7f | 0x80));
                left >>= 7;
            }
            out.write((int) left);
            return this;
        }

        Bytes signed(int value) {
            int left = value;
            while (left >= 0x40 || left < -0x40) {
                out.write(left & 0x7f | 0x80);
                left >>= 7;
            }
            out.write(left & 0x7f);
            return this;
        }

        Bytes name(String name) {
            byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
            return number(bytes.length).add(bytes);
        }

        Bytes section(int number, byte[] content) {
            return content.length == 0
                    ? this
                    : add(number).number(content.length).add(content);
        }

        byte[] toBytes() {
            return out.toByteArray();
        }
    }
}
