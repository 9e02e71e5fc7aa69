package dev.millrace.text;

import dev.millrace.error.MillraceException;
import dev.millrace.type.DataType;
import java.util.function.Consumer;
import org.apache.arrow.memory.RootAllocator;

/** Strings in and out of raw memory, for the tests of this package. */
final class Texts implements AutoCloseable {
    interface Reader<T> {
        T read(long address, int length);
    }

    final RootAllocator allocator = new RootAllocator();
    final ValueParser parser = new ValueParser();
    private final TextBuffer in = new TextBuffer(allocator, 256);
    private final TextBuffer out = new TextBuffer(allocator, 256);

    <T> T read(String text, Reader<T> reader) {
        in.clear();
        in.append(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        in.room(8); // readable behind, with what was there before
        return reader.read(in.address(), (int) in.length());
    }

    /** The error of reading text as a type, as "SQLSTATE message", or "none". */
    String error(DataType type, String text) {
        return read(text, (address, length) -> {
            if (parser.tryParse(type, address, length)) {
                return "none";
            }
            MillraceException e = parser.failure(type, address, length);
            return e.sqlState().code() + " " + e.getMessage();
        });
    }

    String write(Consumer<TextBuffer> writer) {
        out.clear();
        writer.accept(out);
        return out.toString();
    }

    /** Reads and writes again. */
    String echo(String text, Reader<Consumer<TextBuffer>> reader) {
        return write(read(text, reader));
    }

    @Override
    public void close() {
        in.close();
        out.close();
        allocator.close(); // fails when a byte is left
    }
}
