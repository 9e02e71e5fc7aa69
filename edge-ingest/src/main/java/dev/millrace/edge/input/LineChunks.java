package dev.millrace.edge.input;

import java.util.Arrays;

/** Cuts what is read into stretches of whole lines. A line longer than allowed is passed over. Owned by one thread. */
final class LineChunks {
    private final int mostBytes;
    private byte[] rest = {}; // of a line that has no end yet
    private boolean passingOver;
    private long tooLong;

    LineChunks(int mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** The whole lines that end in these bytes, and what was left before; may be empty. */
    byte[] whole(byte[] bytes, int length) {
        int begin = 0;
        if (passingOver) {
            while (begin < length && bytes[begin] != '\n') {
                begin++;
            }
            if (begin == length) {
                return new byte[0];
            }
            begin++;
            passingOver = false;
        }
        int end = length;
        while (end > begin && bytes[end - 1] != '\n') {
            end--;
        }
        byte[] lines;
        if (end == begin) {
            lines = new byte[0];
            append(bytes, begin, length);
        } else {
            lines = Arrays.copyOf(rest, rest.length + end - begin);
            System.arraycopy(bytes, begin, lines, rest.length, end - begin);
            rest = new byte[0];
            append(bytes, end, length);
        }
        return lines;
    }

    private void append(byte[] bytes, int from, int to) {
        if (rest.length + to - from > mostBytes) {
            rest = new byte[0];
            passingOver = true;
            tooLong++;
            return;
        }
        int before = rest.length;
        rest = Arrays.copyOf(rest, before + to - from);
        System.arraycopy(bytes, from, rest, before, to - from);
    }

    /** What has no end; it is forgotten. */
    byte[] rest() {
        byte[] last = rest;
        rest = new byte[0];
        return last;
    }

    /** Bytes of the line that has no end yet, as far as they are kept. */
    int restBytes() {
        return rest.length;
    }

    boolean isPassingOver() {
        return passingOver;
    }

    long tooLong() {
        return tooLong;
    }
}
