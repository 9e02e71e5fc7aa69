package dev.millrace.server.simulation;

import java.util.ArrayList;
import java.util.List;

/** A row: its first value is the key where there is one, its second what statements change. */
record ModelRow(List<Long> values) {
    ModelRow {
        values = List.copyOf(values);
    }

    static ModelRow of(long key, long value) {
        return new ModelRow(List.of(key, value));
    }

    long key() {
        return values.get(0);
    }

    long value() {
        return values.get(1);
    }

    ModelRow withValue(long value) {
        return with(1, value);
    }

    private ModelRow with(int column, long value) {
        List<Long> changed = new ArrayList<>(values);
        changed.set(column, value);
        return new ModelRow(changed);
    }

    ModelRow plus(long value) {
        List<Long> longer = new ArrayList<>(values);
        longer.add(value);
        return new ModelRow(longer);
    }

    ModelRow without(int column) {
        List<Long> shorter = new ArrayList<>(values);
        shorter.remove(column);
        return new ModelRow(shorter);
    }

    /** As a SELECT shows it. */
    String text() {
        StringBuilder text = new StringBuilder();
        values.forEach(value -> text.append(text.length() == 0 ? "" : "|").append(value));
        return text.toString();
    }

    static List<String> texts(List<ModelRow> rows) {
        return rows.stream().map(ModelRow::text).sorted().toList();
    }
}
