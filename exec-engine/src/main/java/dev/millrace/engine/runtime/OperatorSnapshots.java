package dev.millrace.engine.runtime;

import dev.millrace.engine.runtime.QuerySnapshot.Part;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.engine.view.VersionedView;
import dev.millrace.engine.view.ViewScan;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateFormat;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Operators' state, and a view's rows, in memory. Only while the query's epochs are at rest. */
final class OperatorSnapshots {
    private OperatorSnapshots() {}

    static QuerySnapshot of(QueryOutput output, QueryTasks tasks, int parallelism, boolean hasFinished) {
        List<Part> view = output.view().map(OperatorSnapshots::rows).orElse(List.of());
        synchronized (tasks.freeing) {
            boolean finished = hasFinished || tasks.isClosed();
            Map<String, List<Part>> operators = finished ? Map.of() : take(tasks);
            return new QuerySnapshot(output.publishedEpoch(), parallelism, finished, operators, view);
        }
    }

    static Map<String, List<Part>> take(QueryTasks tasks) {
        Map<String, List<Part>> parts = new HashMap<>();
        for (PlacedStage placed : tasks.stages) {
            if (placed.stage() instanceof OperatorStage stage) {
                PartsWriter writer = new PartsWriter();
                Runnable write = () -> {
                    try {
                        stage.operator().snapshot(writer);
                    } catch (IOException e) {
                        throw new UncheckedIOException("memory is written to", e);
                    }
                };
                // its task may be writing it for a checkpoint
                tasks.tasks.stream()
                        .filter(task -> task.stages().contains(stage))
                        .findFirst()
                        .ifPresentOrElse(task -> task.whileStill(write), write);
                parts.put(key(placed.node().id(), placed.instance()), writer.finish());
            }
        }
        return parts;
    }

    /** A view's rows, as one part. */
    private static List<Part> rows(VersionedView view) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ViewScan scan = view.scanToSave()) {
            scan.save(new DataOutputStream(bytes), () -> {});
        } catch (IOException e) {
            throw new UncheckedIOException("memory is written to", e);
        }
        return List.of(new Part("rows", -1, bytes.toByteArray()));
    }

    private static String key(int operator, int instance) {
        return operator + "/" + instance;
    }

    /**
     * What an instance of an operator restores. Where there are as many instances as there were, what its namesake wrote:
     * rows come to it as they did before, also where they are not spread by the operator's keys alone (DISTINCT
     * aggregates are by their argument too). Else its own key groups, whichever instances they came from.
     */
    static StateReader reader(QuerySnapshot snapshot, int operator, int instance, int instances, KeyGroups groups) {
        List<List<Part>> written = new ArrayList<>();
        while (snapshot.operators().containsKey(key(operator, written.size()))) {
            written.add(snapshot.operators().get(key(operator, written.size())));
        }
        boolean asBefore = written.size() == instances;
        List<Part> parts = asBefore
                ? written.get(instance)
                : written.stream().flatMap(List::stream).toList();
        return (state, restore) -> {
            for (Part part : parts) {
                boolean own = asBefore || part.keyGroup() < 0 || groups.contains(part.keyGroup());
                if (own && part.name().equals(state.name())) {
                    restore.accept(new DataInputStream(new ByteArrayInputStream(part.bytes())), part.keyGroup());
                }
            }
        };
    }

    private static final class PartsWriter implements StateWriter {
        private record Open(String name, int keyGroup, ByteArrayOutputStream bytes) {}

        private final List<Open> open = new ArrayList<>();

        @Override
        public DataOutput keyGroup(StateFormat state, int group) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            open.add(new Open(state.name(), group, bytes));
            return new DataOutputStream(bytes);
        }

        List<Part> finish() {
            return open.stream()
                    .map(part -> new Part(part.name, part.keyGroup, part.bytes.toByteArray()))
                    .toList();
        }
    }
}
