package dev.millrace.connectors.avro;

import dev.millrace.connectors.column.NestedTarget;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.util.List;
import java.util.function.Supplier;

/** One step over the bytes of a record. Calls of these are all that decoding is; each reads one kind of value. */
abstract class AvroStep {
    static final AvroStep NOTHING = new AvroStep() {
        @Override
        void read(AvroInput in) {}
    };

    abstract void read(AvroInput in);

    /** What a number is the number of. */
    enum Meaning {
        NUMBER,
        DATE,
        TIME_MILLIS,
        TIME_MICROS,
        TIMESTAMP_MILLIS,
        TIMESTAMP_MICROS,
        TIMESTAMP_NANOS,
        FLOAT,
        DOUBLE
    }

    static AvroStep number(Meaning meaning, boolean isInt, ValueTarget to) {
        if (meaning == Meaning.NUMBER && !isInt) {
            return new AvroStep() {
                @Override
                void read(AvroInput in) {
                    to.putInteger(in.readLong());
                }
            };
        }
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                putNumber(meaning, isInt ? in.readInt() : in.readLong(), to);
            }
        };
    }

    private static void putNumber(Meaning meaning, long value, ValueTarget to) {
        switch (meaning) {
            case NUMBER -> to.putInteger(value);
            case DATE -> to.putDate(value);
            case TIME_MILLIS -> to.putTime(micros(value));
            case TIME_MICROS -> to.putTime(value);
            case TIMESTAMP_MILLIS -> to.putTimestamp(micros(value));
            case TIMESTAMP_MICROS -> to.putTimestamp(value);
            case TIMESTAMP_NANOS -> to.putTimestamp(Math.floorDiv(value, 1000L));
            case FLOAT -> to.putFloat(value);
            case DOUBLE -> to.putDouble(value);
        }
    }

    /** What no time can be becomes a number that none is, too. */
    static long micros(long millis) {
        return Math.abs(millis) > Long.MAX_VALUE / 1000 ? Long.MAX_VALUE : millis * 1000;
    }

    static AvroStep bool(ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                to.putBoolean(in.readBoolean());
            }
        };
    }

    static AvroStep real(boolean asDouble, ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                float value = in.readFloat();
                if (asDouble) {
                    to.putDouble(value);
                } else {
                    to.putFloat(value);
                }
            }
        };
    }

    static AvroStep float8(ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                to.putDouble(in.readDouble());
            }
        };
    }

    static AvroStep text(ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                int length = in.readLength();
                to.putText(in.address(), length);
                in.pass(length);
            }
        };
    }

    /** @param size of each value; negative if each says it */
    static AvroStep bytes(int size, ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                int length = size < 0 ? in.readLength() : size;
                in.pass(length);
                to.putBytes(in.address() - length, length);
            }
        };
    }

    static AvroStep decimal(int size, int scale, ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                int length = size < 0 ? in.readLength() : size;
                in.pass(length);
                byte[] unscaled = new byte[length];
                Memory.copyOut(in.address() - length, unscaled, 0, length);
                to.putDecimal(unscaled, scale);
            }
        };
    }

    /** Months, days and milliseconds, each an unsigned number of four bytes. */
    static AvroStep duration(ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                in.pass(12);
                long from = in.address() - 12;
                to.putInterval(
                        Memory.getInt(from),
                        Memory.getInt(from + 4),
                        1000 * Integer.toUnsignedLong(Memory.getInt(from + 8)));
            }
        };
    }

    /** @param symbols of each number; empty for those that the reader's schema does not have */
    static AvroStep symbol(List<String> symbols, ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                String symbol = symbols.get(in.readIndex(symbols.size()));
                if (symbol.isEmpty()) {
                    throw AvroInput.damaged("a symbol that the schema of the columns does not have");
                }
                to.putText(symbol);
            }
        };
    }

    static AvroStep nothing(ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                to.putNull();
            }
        };
    }

    static AvroStep sequence(List<AvroStep> steps) {
        AvroStep[] all = steps.toArray(AvroStep[]::new);
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                for (AvroStep step : all) {
                    step.read(in);
                }
            }
        };
    }

    static AvroStep choice(List<AvroStep> branches) {
        AvroStep[] all = branches.toArray(AvroStep[]::new);
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                all[in.readIndex(all.length)].read(in);
            }
        };
    }

    static AvroStep array(NestedTarget to, AvroStep element) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                to.beginArray();
                for (long count = in.readBlock(); count > 0; count = in.readBlock()) {
                    for (long i = 0; i < count; i++) {
                        element.read(in);
                        to.endElement();
                    }
                }
            }
        };
    }

    static AvroStep row(NestedTarget to, AvroStep fields) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                to.beginRow();
                fields.read(in);
                to.endRow();
            }
        };
    }

    static AvroStep json(AvroJson json, TextBuffer text, ValueTarget to) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                text.clear();
                json.write(in, text);
                text.room(8); // readable behind
                to.putJson(text.address(), (int) text.length());
            }
        };
    }

    /** What a schema does not write: read by the same step as if it stood there. */
    static AvroStep given(TextBuffer bytes, AvroStep step) {
        AvroInput input = new AvroInput();
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                input.start(bytes.address(), (int) bytes.length());
                step.read(input);
            }
        };
    }

    static AvroStep passing(AvroSkip skip) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                skip.pass(in);
            }
        };
    }

    /** What cannot be read at all: of a branch that perhaps never comes. */
    static AvroStep failing(Supplier<? extends RuntimeException> error) {
        return new AvroStep() {
            @Override
            void read(AvroInput in) {
                throw error.get();
            }
        };
    }
}
