package dev.millrace.connectors.protobuf;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.millrace.connectors.column.NestedTarget;
import dev.millrace.connectors.column.ValueTarget;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A field of a message on its way into a column. It may come several times, and in any order; what it is in the end is known at the end of the
 * message. Owned by the columns' thread.
 *
 * <pre>
 *   begin   ( read )*   end
 * </pre>
 */
abstract class ProtobufField {
    private final List<ProtobufField> rivals = new ArrayList<>(); // of which only the last that comes counts
    boolean seen;

    /** @return whether it was read; else it is to be passed over, as what is written otherwise than its type says */
    abstract boolean read(ProtobufInput in, int tag);

    void begin() {
        seen = false;
    }

    void end() {}

    /** What came so far does not count. */
    void forget() {
        begin();
    }

    final void rivalOf(ProtobufField other) {
        rivals.add(other);
    }

    final boolean take(ProtobufInput in, int tag) {
        if (!read(in, tag)) {
            return false;
        }
        seen = true;
        for (ProtobufField rival : rivals) {
            rival.forget();
        }
        return true;
    }

    // ---- kinds -----------------------------------------------------------------------------------------------------

    /** A field that is no column, but of which others must know that it came. */
    static ProtobufField passed() {
        return new ProtobufField() {
            @Override
            boolean read(ProtobufInput in, int tag) {
                in.skip(tag);
                return true;
            }
        };
    }

    static ProtobufField single(FieldDescriptor field, ValueTarget to) {
        int wire = ProtobufScalar.wire(field.getType());
        boolean hasDefault = !field.hasPresence();
        return new ProtobufField() {
            @Override
            boolean read(ProtobufInput in, int tag) {
                if ((tag & 7) != wire) {
                    return false;
                }
                ProtobufScalar.put(field, in, to);
                return true;
            }

            @Override
            void end() {
                if (!seen && hasDefault) {
                    ProtobufScalar.putDefault(field, to);
                } else if (!seen) {
                    to.putNull();
                }
            }
        };
    }

    /** Elements one by one, or many together. */
    static ProtobufField repeated(FieldDescriptor field, NestedTarget to) {
        int wire = ProtobufScalar.wire(field.getType());
        return new ProtobufField() {
            @Override
            void begin() {
                super.begin();
                to.beginArray();
            }

            @Override
            boolean read(ProtobufInput in, int tag) {
                if ((tag & 7) == wire) {
                    element(in);
                    return true;
                }
                if ((tag & 7) != ProtobufInput.BYTES || !field.isPackable()) {
                    return false;
                }
                long before = in.narrow(in.readLength());
                while (!in.isAtEnd()) {
                    element(in);
                }
                in.widen(before);
                return true;
            }

            private void element(ProtobufInput in) {
                ProtobufScalar.put(field, in, to.element());
                to.endElement();
            }
        };
    }

    static ProtobufField row(ProtobufPlan plan, NestedTarget to) {
        return new ProtobufField() {
            @Override
            boolean read(ProtobufInput in, int tag) {
                if ((tag & 7) != ProtobufInput.BYTES) {
                    return false;
                }
                if (!seen) {
                    to.beginRow();
                    plan.begin();
                }
                long before = in.narrow(in.readLength());
                plan.read(in);
                in.widen(before);
                return true;
            }

            @Override
            void end() {
                if (seen) {
                    plan.end();
                    to.endRow();
                } else {
                    to.putNull();
                }
            }
        };
    }

    static ProtobufField rows(ProtobufPlan plan, NestedTarget to) {
        return new ProtobufField() {
            @Override
            void begin() {
                super.begin();
                to.beginArray();
            }

            @Override
            boolean read(ProtobufInput in, int tag) {
                if ((tag & 7) != ProtobufInput.BYTES) {
                    return false;
                }
                to.element().beginRow();
                plan.begin();
                long before = in.narrow(in.readLength());
                plan.read(in);
                in.widen(before);
                plan.end();
                to.element().endRow();
                to.endElement();
                return true;
            }
        };
    }

    /** {@code google.protobuf.Timestamp} and {@code Duration}: seconds and nanoseconds. */
    static ProtobufField time(boolean isDuration, ValueTarget to) {
        return new ProtobufField() {
            private long seconds;
            private long nanos;

            @Override
            void begin() {
                super.begin();
                seconds = 0;
                nanos = 0;
            }

            @Override
            boolean read(ProtobufInput in, int tag) {
                if ((tag & 7) != ProtobufInput.BYTES) {
                    return false;
                }
                long before = in.narrow(in.readLength());
                while (!in.isAtEnd()) {
                    int part = in.readTag();
                    if (part == (1 << 3)) {
                        seconds = in.readVarint();
                    } else if (part == (2 << 3)) {
                        nanos = (int) in.readVarint();
                    } else {
                        in.skip(part);
                    }
                }
                in.widen(before);
                return true;
            }

            @Override
            void end() {
                if (!seen) {
                    to.putNull();
                    return;
                }
                boolean isTime = Math.abs(seconds) < Long.MAX_VALUE / 1_000_000 - 1_000_000;
                long micros = isTime ? seconds * 1_000_000 + Math.floorDiv(nanos, 1000L) : Long.MAX_VALUE;
                if (isDuration) {
                    to.putInterval(0, 0, micros);
                } else {
                    to.putTimestamp(micros);
                }
            }
        };
    }

    /** {@code google.protobuf.Int32Value} and its like: a message around one value, which may be missing. */
    static ProtobufField wrapped(FieldDescriptor value, ValueTarget to) {
        int wire = ProtobufScalar.wire(value.getType());
        return new ProtobufField() {
            private boolean isGiven;

            @Override
            void begin() {
                super.begin();
                isGiven = false;
            }

            @Override
            boolean read(ProtobufInput in, int tag) {
                if ((tag & 7) != ProtobufInput.BYTES) {
                    return false;
                }
                long before = in.narrow(in.readLength());
                while (!in.isAtEnd()) {
                    int part = in.readTag();
                    if (part == (value.getNumber() << 3 | wire)) {
                        ProtobufScalar.put(value, in, to);
                        isGiven = true;
                    } else {
                        in.skip(part);
                    }
                }
                in.widen(before);
                return true;
            }

            @Override
            void end() {
                if (!seen) {
                    to.putNull();
                } else if (!isGiven) {
                    ProtobufScalar.putDefault(value, to);
                }
            }
        };
    }

    /** Any field as JSON: its bytes are gathered, and make a message of this field alone. */
    static ProtobufField json(FieldDescriptor field, TextBuffer gathered, TextBuffer text, ValueTarget to) {
        return new ProtobufField() {
            @Override
            void begin() {
                super.begin();
                gathered.clear();
            }

            @Override
            boolean read(ProtobufInput in, int tag) {
                long from = in.address();
                in.skip(tag);
                varint(gathered, Integer.toUnsignedLong(tag));
                gathered.append(from, (int) (in.address() - from));
                return true;
            }

            @Override
            void end() {
                if (!seen && field.hasPresence()) {
                    to.putNull();
                    return;
                }
                byte[] bytes = new byte[(int) gathered.length()];
                Memory.copyOut(gathered.address(), bytes, 0, bytes.length);
                try {
                    DynamicMessage message = DynamicMessage.newBuilder(field.getContainingType())
                            .mergeFrom(bytes)
                            .buildPartial();
                    text.clear();
                    ProtobufJson.field(field, message.getField(field), text);
                } catch (InvalidProtocolBufferException e) {
                    throw ProtobufInput.damaged(String.valueOf(e.getMessage()));
                }
                text.room(8); // readable behind
                to.putJson(text.address(), (int) text.length());
            }
        };
    }

    static void varint(TextBuffer out, long value) {
        long bits = value;
        while ((bits & ~0x7fL) != 0) {
            out.append((byte) (bits | 0x80));
            bits >>>= 7;
        }
        out.append((byte) bits);
    }

    /** What no record can be put into, if it comes. */
    static ProtobufField refused(String what, ValueTarget to) {
        return new ProtobufField() {
            @Override
            boolean read(ProtobufInput in, int tag) {
                throw to.mismatch(what);
            }
        };
    }
}
