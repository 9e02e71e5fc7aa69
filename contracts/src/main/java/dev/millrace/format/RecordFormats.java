package dev.millrace.format;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Formats by the name in {@code WITH (format = '...')}. Immutable, safe on any thread. */
public final class RecordFormats {
    private final Map<String, RecordFormatFactory> factories = new LinkedHashMap<>();
    private final Supplier<List<RecordFormatFactory>> others;

    public RecordFormats(List<RecordFormatFactory> factories) {
        this(factories, List::of);
    }

    /** @param others asked each time for a name that none of the factories has */
    public RecordFormats(List<RecordFormatFactory> factories, Supplier<List<RecordFormatFactory>> others) {
        factories.forEach(factory -> this.factories.put(factory.name(), factory));
        this.others = others;
    }

    /**
     * The format of that name.
     *
     * @throws MillraceException 22023 when there is none, suggesting the nearest
     */
    public RecordFormatFactory named(String name) {
        Map<String, RecordFormatFactory> all = new LinkedHashMap<>(factories);
        if (!all.containsKey(name)) {
            others.get().forEach(other -> all.putIfAbsent(other.name(), other));
        }
        RecordFormatFactory factory = all.get(name);
        if (factory == null) {
            MillraceException error =
                    MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, "there is no format \"" + name + "\"");
            throw Suggestion.nearest(name, all.keySet())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElseGet(() -> error.withHint("there are: " + String.join(", ", all.keySet())));
        }
        return factory;
    }

    public Collection<RecordFormatFactory> all() {
        return List.copyOf(factories.values());
    }
}
