package dev.millrace.connectors.socket;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Cuts bytes into lines, without their ends; empty lines are none. A line that is longer than allowed is passed over to its end. Owned by one
 * thread.
 */
final class LineCutter {
    private final int mostBytes;
    private byte[] begun = new byte[256]; // of the line that has no end yet
    private int length;
    private boolean passingOver;
    private long tooLong; // lines

    LineCutter(int mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** The lines that end in these bytes. */
    List<byte[]> cut(byte[] bytes, int from, int to) {
        List<byte[]> lines = new ArrayList<>();
        int start = from;
        for (int i = from; i < to; i++) {
            if (bytes[i] == '\n') {
                append(bytes, start, i);
                end(lines);
                start = i + 1;
            }
        }
        append(bytes, start, to);
        return lines;
    }

    /** The last line, which has no end; none if there is nothing of it. */
    List<byte[]> rest() {
        List<byte[]> lines = new ArrayList<>();
        end(lines);
        return lines;
    }

    private void append(byte[] bytes, int from, int to) {
        int more = to - from;
        if (passingOver || more > mostBytes - length) {
            passingOver = true;
            return;
        }
        if (length + more > begun.length) {
            begun = Arrays.copyOf(begun, Math.max(2 * begun.length, length + more));
        }
        System.arraycopy(bytes, from, begun, length, more);
        length += more;
    }

    private void end(List<byte[]> lines) {
        if (passingOver) {
            tooLong++;
        } else {
            int end = length > 0 && begun[length - 1] == '\r' ? length - 1 : length;
            if (end > 0) {
                lines.add(Arrays.copyOf(begun, end));
            }
        }
        passingOver = false;
        length = 0;
    }

    /** Lines that were too long since the last call. */
    long takeTooLong() {
        long count = tooLong;
        tooLong = 0;
        return count;
    }
}
