package dev.millrace.expressions.code;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;
import dev.millrace.type.DataType;

/** The statements that write one projection's values to its output column. */
final class Store {
    private final KernelSource kernel;
    private final Body body;
    private final int projection;
    private final Value value;
    private final String at;
    private final String data;

    /** @param at the Java variable of the output row */
    Store(KernelSource kernel, Body body, int projection, Value value, String at) {
        this.kernel = kernel;
        this.body = body;
        this.projection = projection;
        this.value = value;
        this.at = at;
        this.data = name("data");
        kernel.use(Memory.class);
    }

    private String name(String prefix) {
        return prefix + projection;
    }

    private String out() {
        return "out[" + projection + "]";
    }

    /** Statements before the loop. */
    void before(SourceBuilder source) {
        source.line("long " + data + " = " + out() + ".data();");
        if (value.repr() == Repr.BOOLEAN) {
            source.line("long " + name("bits") + " = 0;");
        }
        if (value.repr() == Repr.BYTES) {
            source.line("long " + name("offsets") + " = " + out() + ".offsets();");
            source.line("long " + name("room") + " = " + out() + ".capacity();");
            source.line("int " + name("end") + " = 0;");
        }
        if (!value.neverNull()) {
            source.line("long " + name("validity") + " = " + out() + ".validity();");
            source.line("long " + name("valid") + " = 0;");
        }
    }

    /** Statements of a row. */
    void inLoop() {
        switch (value.repr()) {
            case BOOLEAN -> bit(name("bits"), data, value.code());
            case INT -> {
                boolean small = value.type().kind() == DataType.Kind.SMALLINT;
                put(small ? "Short" : "Int", small ? 2 : 4, 0, (small ? "(short) " : "") + value.code());
            }
            case LONG -> put("Long", 8, 0, value.code());
            case FLOAT -> put("Float", 4, 0, value.code());
            case DOUBLE -> put("Double", 8, 0, value.code());
            case NARROW, WIDE -> {
                put("Long", 16, 0, value.low());
                put("Long", 16, 8, value.high());
            }
            case INTERVAL -> {
                put("Int", 16, 0, value.part(0));
                put("Int", 16, 4, value.part(1));
                put("Long", 16, 8, "Math.multiplyExact(" + value.part(2) + ", 1000L)");
                body.setMayFail();
            }
            case UUID -> {
                put("Long", 16, 0, "Long.reverseBytes(" + value.part(0) + ")");
                put("Long", 16, 8, "Long.reverseBytes(" + value.part(1) + ")");
            }
            case BYTES -> bytes();
            case NOTHING -> throw MillraceException.notAvailableYet("computing values of type " + value.type());
        }
        if (!value.neverNull()) {
            bit(name("valid"), name("validity"), "!" + ExpressionCompiler.parenthesised(value.isNull()));
        }
    }

    private void put(String writer, int width, int offset, String code) {
        String address = data + " + " + width + "L * " + at + (offset == 0 ? "" : " + " + offset);
        body.line("Memory.put" + writer + "(" + address + ", " + code + ");");
    }

    /** Bits are gathered in a word and written 64 at a time. */
    private void bit(String word, String address, String code) {
        body.line(word + " |= (" + code + " ? 1L : 0L) << " + at + ";");
        body.statements().open("if ((" + at + " & 63) == 63)");
        body.line("Memory.putLong(" + address + " + (" + at + " >>> 6 << 3), " + word + ");");
        body.line(word + " = 0;");
        body.statements().close();
    }

    private void bytes() {
        String end = name("end");
        String length =
                value.neverNull() ? value.part(1) : body.local("int", "b", value.isNull() + " ? 0 : " + value.part(1));
        body.setMayFail();
        body.statements().open("if (" + name("room") + " - " + end + " < " + length + ")");
        body.line(out() + ".grow(" + end + ", " + length + ");");
        body.line(data + " = " + out() + ".data();");
        body.line(name("room") + " = " + out() + ".capacity();");
        body.statements().close();
        kernel.use(Bytes.class);
        body.line("Bytes.copy(" + value.part(0) + ", " + data + " + " + end + ", " + length + ");");
        body.line(end + " += " + length + ";");
        body.line("Memory.putInt(" + name("offsets") + " + 4L * " + at + " + 4, " + end + ");");
    }

    /** Statements after the loop. */
    void after(SourceBuilder source) {
        if (value.repr() == Repr.BOOLEAN) {
            source.line("OutputColumn.lastBits(" + data + ", count, " + name("bits") + ");");
        }
        if (value.neverNull()) {
            source.line(out() + ".allValid(count);");
        } else {
            source.line("OutputColumn.lastBits(" + name("validity") + ", count, " + name("valid") + ");");
        }
    }
}
