package dev.millrace.expressions.code;

/** Readable Java source: lines, indented by the blocks they are in. Not thread-safe. */
public final class SourceBuilder {
    private static final String INDENT = "    ";

    private final StringBuilder text = new StringBuilder();
    private int depth;

    /** Adds a line. */
    public SourceBuilder line(String line) {
        if (!line.isEmpty()) {
            text.append(INDENT.repeat(depth)).append(line);
        }
        text.append('\n');
        return this;
    }

    /** Adds a line and begins its block: {@code open("for (;;)")}. */
    public SourceBuilder open(String head) {
        line(head + " {");
        depth++;
        return this;
    }

    /** Ends a block and begins the next of the same statement: {@code reopen("else")}. */
    public SourceBuilder reopen(String head) {
        depth--;
        line("} " + head + " {");
        depth++;
        return this;
    }

    /** Ends a block. */
    public SourceBuilder close() {
        assert depth > 0 : "no block is open";
        depth--;
        return line("}");
    }

    /** Adds lines of another source at the depth of this one. */
    public SourceBuilder append(SourceBuilder block) {
        assert block.depth == 0 : "a block of the appended source is open";
        block.text.toString().lines().forEach(this::line);
        return this;
    }

    public boolean isEmpty() {
        return text.isEmpty();
    }

    /** The source so far. */
    @Override
    public String toString() {
        return text.toString();
    }
}
