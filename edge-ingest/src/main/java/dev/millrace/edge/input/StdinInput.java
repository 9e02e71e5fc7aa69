package dev.millrace.edge.input;

import java.io.IOException;
import java.io.InputStream;

/** The lines of standard input to its end. */
final class StdinInput extends ThreadInput {
    private final InputStream in;
    private final int mostBytes;
    private final boolean header;

    StdinInput(InputStream in, int mostBytes, boolean header) {
        this.in = in;
        this.mostBytes = mostBytes;
        this.header = header;
        start("edge-stdin", this::read);
    }

    private void read() throws IOException, InterruptedException {
        LineChunks cut = new LineChunks(mostBytes);
        byte[] bytes = new byte[READ_BYTES];
        boolean skip = header;
        try {
            int read;
            while (!isClosed() && (read = in.read(bytes)) >= 0) {
                byte[] lines = cut.whole(bytes, read);
                if (skip && lines.length > 0) {
                    lines = Header.without(lines);
                    skip = false;
                }
                bring(lines);
            }
            bring(skip ? Header.without(cut.rest()) : cut.rest());
        } finally {
            tooLong(cut.tooLong());
            end();
        }
    }
}
