package dev.millrace.sketch.column;

import java.util.List;

/** Texts, by rank in the order of first occurrence. */
public record TextSymbols(List<String> texts) implements Symbols {
    public TextSymbols {
        texts = List.copyOf(texts);
    }

    @Override
    public int size() {
        return texts.size();
    }

    public String text(int rank) {
        return texts.get(rank);
    }
}
