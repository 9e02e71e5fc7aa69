package dev.millrace.capture;

import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.apache.kafka.connect.runtime.WorkerConfig;
import org.apache.kafka.connect.storage.OffsetBackingStore;
import org.apache.kafka.connect.util.Callback;
import org.jspecify.annotations.Nullable;

/** Gives Debezium the offset that the table has. What Debezium would store is stored with the rows, and is there already. */
public final class OffsetOfRun implements OffsetBackingStore {
    private @Nullable RunState state; // set by configure, before all else

    @Override
    public void configure(WorkerConfig config) {
        state = RunState.of(String.valueOf(config.originals().get(RunState.KEY)));
    }

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public Future<Map<ByteBuffer, ByteBuffer>> get(Collection<ByteBuffer> keys) {
        Map<ByteBuffer, ByteBuffer> found = new HashMap<>();
        byte[] offset = state == null ? new byte[0] : state.offset();
        if (offset.length > 0) { // an engine of one table has one
            keys.forEach(key -> found.put(key, ByteBuffer.wrap(offset)));
        }
        return CompletableFuture.completedFuture(found);
    }

    @Override
    public Future<Void> set(Map<ByteBuffer, ByteBuffer> values, @Nullable Callback<Void> callback) {
        if (callback != null) {
            callback.onCompletion(null, null);
        }
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public Set<Map<String, Object>> connectorPartitions(String connector) {
        return Set.of();
    }
}
