package dev.millrace.connectors.mqtt;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.connector.Options;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/**
 * Topics that rows go to: text, with columns in it.
 *
 * @param texts before, between and behind the columns
 */
record TopicTemplate(List<String> texts, List<Integer> columns, List<String> names) {
    TopicTemplate {
        texts = List.copyOf(texts);
        columns = List.copyOf(columns);
        names = List.copyOf(names);
    }

    /** @throws MillraceException 22023 if it is no topic; 42703 if it names a column that is not there */
    static TopicTemplate of(String text, Schema schema) {
        List<String> texts = new ArrayList<>();
        List<Integer> columns = new ArrayList<>();
        List<String> names = new ArrayList<>();
        int from = 0;
        for (int open = text.indexOf('{'); open >= 0; open = text.indexOf('{', from)) {
            int close = text.indexOf('}', open);
            if (close < 0) {
                throw Options.invalid("topic", text, "a topic such as site/{room}/temp");
            }
            String name = text.substring(open + 1, close);
            if (schema.indexOf(name) < 0) {
                throw MillraceException.user(
                        SqlState.UNDEFINED_COLUMN, "column \"" + name + "\" of option \"topic\" does not exist");
            }
            texts.add(text.substring(from, open));
            columns.add(schema.indexOf(name));
            names.add(name);
            from = close + 1;
        }
        texts.add(text.substring(from));
        String fixed = String.join("x", texts);
        TopicFilter.requireName("topic", fixed);
        return new TopicTemplate(texts, columns, names);
    }

    /** @throws MillraceException 22023 if a value cannot be in a topic */
    String of(Batch batch, int row) {
        if (columns.isEmpty()) {
            return texts.get(0);
        }
        StringBuilder topic = new StringBuilder(texts.get(0));
        for (int i = 0; i < columns.size(); i++) {
            String value = ValueText.format(batch, columns.get(i), row).orElse("");
            if (value.isEmpty() || value.matches("(?s).*[+#/\0].*")) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE,
                        "\"" + value + "\" of column \"" + names.get(i) + "\" cannot be a level of a topic");
            }
            topic.append(value).append(texts.get(i + 1));
        }
        return topic.toString();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(texts.get(0));
        for (int i = 0; i < names.size(); i++) {
            text.append('{').append(names.get(i)).append('}').append(texts.get(i + 1));
        }
        return text.toString();
    }
}
