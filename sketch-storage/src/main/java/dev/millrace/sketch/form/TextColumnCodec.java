package dev.millrace.sketch.form;

import dev.millrace.sketch.bits.BitReader;
import dev.millrace.sketch.bits.BitWriter;
import dev.millrace.sketch.bits.Damage;
import dev.millrace.sketch.column.Column;
import dev.millrace.sketch.column.Sequence;
import dev.millrace.sketch.column.TextSymbols;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/** A column of texts: NULLs, the distinct texts in the order in which they first occur, and a sequence of ranks. */
public final class TextColumnCodec {
    private static final int LENGTH_ORDER = 3;
    private static final int WORTH_DEFLATING = 96;

    private TextColumnCodec() {}

    /**
     * Prepares a column.
     *
     * @param ranks per row that is not NULL, the rank of its text
     * @param texts distinct, in the order of first occurrence
     */
    public static ColumnPlan plan(boolean[] nulls, int rows, long[] ranks, int count, List<String> texts, Keep keep) {
        BitWriter head = new BitWriter();
        NullRuns.of(nulls, rows).write(head);
        if (count == 0) {
            return new Plan(head, null);
        }
        int[] counts = new int[texts.size()];
        for (int i = 0; i < count; i++) {
            counts[(int) ranks[i]]++;
        }
        head.golomb(texts.size() - 1, 2);
        writeTexts(head, texts);
        return new Plan(head, new SequencePlan(ranks, count, counts, texts.size(), keep));
    }

    /** {@code sequence} is null when every row is NULL. */
    private record Plan(BitWriter head, @Nullable SequencePlan sequence) implements ColumnPlan {
        @Override
        public long bits() {
            return head.bitCount() + (sequence == null ? 0 : sequence.bits());
        }

        @Override
        public void write(BitWriter out, boolean last) {
            // Texts begin at a byte, so the head is aligned where it is written.
            out.align();
            out.append(head);
            if (sequence != null) {
                sequence.write(out, last);
            }
        }
    }

    /** Prepares a column to be stored together with others. */
    public static JointCodec.Part joint(boolean[] nulls, int rows, long[] ranks, int count, List<String> texts) {
        BitWriter head = new BitWriter();
        head.flag(count < rows);
        head.flag(count > 0);
        if (count > 0) {
            head.golomb(texts.size() - 1, 2);
            writeTexts(head, texts);
        }
        int[] all = new int[rows];
        int at = 0;
        for (int row = 0; row < rows; row++) {
            all[row] = nulls[row] ? texts.size() : (int) ranks[at++];
        }
        return new JointCodec.Part(head, all, texts.size() + (count < rows ? 1 : 0));
    }

    static TextSymbols readJoint(BitReader in, int rows) {
        return in.flag() ? readTexts(in, rows) : new TextSymbols(List.of());
    }

    private static void writeTexts(BitWriter out, List<String> texts) {
        byte[][] encoded = new byte[texts.size()][];
        int total = 0;
        for (int i = 0; i < encoded.length; i++) {
            encoded[i] = texts.get(i).getBytes(StandardCharsets.UTF_8);
            total += encoded[i].length;
            out.golomb(encoded[i].length, LENGTH_ORDER);
        }
        byte[] all = new byte[total];
        int at = 0;
        for (byte[] text : encoded) {
            System.arraycopy(text, 0, all, at, text.length);
            at += text.length;
        }
        byte[] deflated = total < WORTH_DEFLATING ? all : deflate(all);
        boolean smaller = deflated.length + 4 < total;
        out.flag(smaller);
        if (smaller) {
            out.golomb(deflated.length, 8);
            out.bytes(deflated, 0, deflated.length);
        } else {
            out.bytes(all, 0, total);
        }
    }

    private static byte[] deflate(byte[] all) {
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        try {
            deflater.setInput(all);
            deflater.finish();
            byte[] out = new byte[all.length + 64];
            int length = deflater.deflate(out);
            return deflater.finished() ? Arrays.copyOf(out, length) : all;
        } finally {
            deflater.end();
        }
    }

    private static byte[] inflate(byte[] deflated, int length) {
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(deflated);
            byte[] out = new byte[length];
            int found = inflater.inflate(out);
            Damage.check(found == length, "texts of another length than told");
            return out;
        } catch (DataFormatException e) {
            throw Damage.damaged("texts that cannot be unpacked");
        } finally {
            inflater.end();
        }
    }

    /** Reads a column of {@code rows} rows; empty, somewhere within it, if none of them may be wanted. */
    public static Optional<Column> read(BitReader in, int rows, boolean last, SymbolFilter filter) {
        in.align();
        NullRuns nulls = NullRuns.read(in, rows);
        int count = rows - nulls.rows();
        if (count == 0) {
            TextSymbols none = new TextSymbols(List.of());
            return filter.mayMeet(none, rows, rows)
                    ? Optional.of(Column.counted(none, Sequence.constant(rows, 0), new int[] {rows}))
                    : Optional.empty();
        }
        TextSymbols symbols = readTexts(in, count);
        return filter.mayMeet(symbols, nulls.rows(), rows)
                ? Optional.of(NumberColumnCodec.withNulls(
                        symbols, SequencePlan.read(in, count, symbols.size(), last), nulls, rows))
                : Optional.empty();
    }

    private static TextSymbols readTexts(BitReader in, int count) {
        int size = in.count(2, count - 1, "the number of texts") + 1;
        int[] lengths = new int[size];
        int total = 0;
        for (int i = 0; i < size; i++) {
            lengths[i] = in.count(LENGTH_ORDER, Limits.TEXT_BYTES - total, "the length of texts");
            total += lengths[i];
        }
        byte[] all;
        if (in.flag()) {
            byte[] deflated = in.bytes(in.count(8, Limits.TEXT_BYTES, "the length of texts"));
            // Deflating cannot shrink by more than about a thousand times.
            Damage.check(total <= 1100L * deflated.length + 64, "texts of another length than told");
            all = inflate(deflated, total);
        } else {
            all = in.bytes(total);
        }
        String[] texts = new String[size];
        int at = 0;
        for (int i = 0; i < size; i++) {
            try {
                texts[i] = StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(all, at, lengths[i]))
                        .toString();
            } catch (CharacterCodingException e) {
                throw Damage.damaged("a text that is not UTF-8");
            }
            at += lengths[i];
        }
        return new TextSymbols(Arrays.asList(texts));
    }
}
