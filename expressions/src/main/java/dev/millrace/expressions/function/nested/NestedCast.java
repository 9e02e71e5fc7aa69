package dev.millrace.expressions.function.nested;

import dev.millrace.expressions.function.Text;
import dev.millrace.json.JsonNormalizer;
import dev.millrace.nested.ImageWriter;
import dev.millrace.nested.Images;
import dev.millrace.nested.NestedText;
import dev.millrace.text.TextBuffer;
import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import org.apache.arrow.memory.BufferAllocator;

/** Casts from and to arrays and rows. Elements of other types are converted by way of their text. */
public final class NestedCast implements AutoCloseable {
    private final NestedText reader;
    private final TextBuffer text;

    public NestedCast(BufferAllocator allocator) {
        JsonNormalizer normalizer = new JsonNormalizer();
        this.reader = new NestedText(allocator, normalizer::normalize);
        this.text = new TextBuffer(allocator, 64);
    }

    /** The text of an array or row. */
    public static void toText(DataType type, long image, int length, Text out) {
        NestedText.write(out.begin(), type, image);
        out.written();
    }

    /** The array or row of a text. */
    public void parse(DataType type, long address, int length, Text out) {
        reader.read(out.begin(), type, address, length);
        out.written();
    }

    /** An array or row with elements of other types. */
    public void convert(DataType from, DataType to, long image, int length, Text out) {
        convert(from, to, image, out.begin());
        out.written();
    }

    private void convert(DataType from, DataType to, long value, TextBuffer out) {
        if (from.equals(to)) {
            ImageWriter.image(out, value, (int) (Images.end(from, value) - value));
        } else if (from.kind() == Kind.ARRAY && to.kind() == Kind.ARRAY) {
            ImageWriter.int32(out, Images.count(value));
            long at = Images.elements(value);
            for (int left = Images.count(value); left > 0; left--) {
                element(from.element(), to.element(), at, out);
                at = Images.behind(from.element(), at);
            }
        } else if (from.kind() == Kind.ROW && to.kind() == Kind.ROW) {
            long at = value;
            for (int i = 0; i < from.fields().size(); i++) {
                DataType field = from.fields().get(i).type();
                element(field, to.fields().get(i).type(), at, out);
                at = Images.behind(field, at);
            }
        } else {
            scalar(from, to, value, out);
        }
    }

    private void element(DataType from, DataType to, long element, TextBuffer out) {
        if (from.kind() == Kind.NULL || Images.isNull(element)) {
            ImageWriter.nothing(out);
        } else {
            ImageWriter.some(out);
            convert(from, to, element + 1, out);
        }
    }

    private void scalar(DataType from, DataType to, long value, TextBuffer out) {
        text.clear();
        NestedText.write(text, from, value);
        boolean rounds = to.isInteger() && from.isNumber() && !from.isInteger();
        if (rounds || to.isExact() && (from.kind() == Kind.REAL || from.kind() == Kind.DOUBLE)) {
            byte[] digits = text.toBytes();
            try {
                BigDecimal exact = new BigDecimal(new String(digits, StandardCharsets.US_ASCII));
                RoundingMode mode = from.isExact() ? RoundingMode.HALF_UP : RoundingMode.HALF_EVEN;
                String plain = (rounds ? exact.setScale(0, mode) : exact).toPlainString();
                text.clear();
                text.appendAscii(plain);
            } catch (NumberFormatException e) {
                // NaN or an infinity: reading it says what is wrong
            }
        }
        reader.read(out, to, text.address(), (int) text.length());
    }

    @Override
    public void close() {
        reader.close();
        text.close();
    }
}
