package dev.millrace.format;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Formats by the name in {@code WITH (format = '...')}. Immutable, safe on any thread. */
public final class RecordFormats {
    private final Map<String, RecordFormatFactory> factories = new LinkedHashMap<>();

    public RecordFormats(List<RecordFormatFactory> factories) {
        factories.forEach(factory -> this.factories.put(factory.name(), factory));
    }

    /**
     * The format of that name.
     *
     * @throws MillraceException 22023 when there is none, suggesting the nearest
     */
    public RecordFormatFactory named(String name) {
        RecordFormatFactory factory = factories.get(name);
        if (factory == null) {
            MillraceException error =
                    MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "there is no format \"" + name + "\"");
            throw Suggestion.nearest(name, factories.keySet())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElseGet(() -> error.withHint("there are: " + String.join(", ", factories.keySet())));
        }
        return factory;
    }

    public Collection<RecordFormatFactory> all() {
        return List.copyOf(factories.values());
    }
}
