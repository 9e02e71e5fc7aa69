package dev.millrace.server.instance;

import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.storage.CheckpointCatalog;
import dev.millrace.server.storage.KeptCatalog;
import dev.millrace.server.storage.KeptObject;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The names that objects had when a checkpoint was written, which has what they keep by these. What is the same object is known by its
 * number, whatever it is called.
 */
public final class NamesThen implements UnaryOperator<String> {
    private final Map<String, String> then = new LinkedHashMap<>(); // by the names that objects have now
    private final Map<String, String> now = new HashMap<>();

    /** @param objects that there are now */
    public NamesThen(CheckpointCatalog checkpoint, Collection<KeptObject> objects) {
        Map<Long, String> byNumber = new HashMap<>();
        KeptCatalog.of(checkpoint.records())
                .objects()
                .forEach(object -> object.number().ifPresent(number -> byNumber.put(number, object.name())));
        for (KeptObject object : objects) {
            String before = object.number().isPresent()
                    ? byNumber.getOrDefault(object.number().getAsLong(), object.name())
                    : object.name();
            then.put(object.name(), before);
            now.put(before, object.name());
        }
    }

    /** The name of an object then; also that of a query's own reader of a stream. */
    @Override
    public String apply(String name) {
        String before = then.get(name);
        if (before == null && RetainedStreams.isOwnName(name)) {
            for (String query : then.keySet()) {
                String stream = name.endsWith(" for " + query) ? RetainedStreams.streamOf(name, query) : "";
                if (then.containsKey(stream)) {
                    return RetainedStreams.ownName(apply(stream), apply(query));
                }
            }
        }
        return before == null ? name : before;
    }

    /** The name that an object has now, by the one that it had. */
    public String now(String name) {
        return now.getOrDefault(name, name);
    }
}
