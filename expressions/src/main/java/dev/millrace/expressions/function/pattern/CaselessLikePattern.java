package dev.millrace.expressions.function.pattern;

import dev.millrace.expressions.function.Letters;
import dev.millrace.expressions.function.Text;
import org.apache.arrow.memory.BufferAllocator;

/** ILIKE: LIKE of pattern and text in lower case. */
public final class CaselessLikePattern implements AutoCloseable {
    private final LikePattern like;
    private final Text pattern;
    private final Text text;

    public CaselessLikePattern(BufferAllocator allocator) {
        like = new LikePattern(allocator);
        pattern = new Text(allocator);
        text = new Text(allocator);
    }

    public void prepare(long patternAddress, int patternLength) {
        Letters.lower(patternAddress, patternLength, pattern);
        like.prepare(pattern.address, pattern.length);
    }

    public void prepare(long patternAddress, int patternLength, long escapeAddress, int escapeLength) {
        Letters.lower(patternAddress, patternLength, pattern);
        like.prepare(pattern.address, pattern.length, escapeAddress, escapeLength);
    }

    public boolean matches(long address, int length) {
        Letters.lower(address, length, text);
        return like.matches(text.address, text.length);
    }

    @Override
    public void close() {
        like.close();
        pattern.close();
        text.close();
    }
}
