package dev.millrace.engine.runtime;

import dev.millrace.engine.runtime.QuerySnapshot.Part;
import dev.millrace.engine.runtime.QueryTasks.PlacedStage;
import dev.millrace.engine.task.OperatorStage;
import dev.millrace.operator.KeyGroups;
import dev.millrace.operator.StateReader;
import dev.millrace.operator.StateWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Operators' state in memory. Only while the query's epochs are at rest. */
final class OperatorSnapshots {
    private OperatorSnapshots() {}

    static Map<String, List<Part>> take(QueryTasks tasks) {
        Map<String, List<Part>> parts = new HashMap<>();
        for (PlacedStage placed : tasks.stages) {
            if (placed.stage() instanceof OperatorStage stage) {
                PartsWriter writer = new PartsWriter();
                stage.operator().snapshot(writer);
                parts.computeIfAbsent(String.valueOf(placed.node().id), id -> new ArrayList<>())
                        .addAll(writer.finish());
            }
        }
        return parts;
    }

    /** What an operator restores: its own key groups, whichever instances they came from. */
    static StateReader reader(QuerySnapshot snapshot, int operator, KeyGroups groups) {
        return (name, restore) -> {
            for (Part part : snapshot.operators().getOrDefault(String.valueOf(operator), List.of())) {
                if (part.name().equals(name) && (part.keyGroup() < 0 || groups.contains(part.keyGroup()))) {
                    restore.accept(new DataInputStream(new ByteArrayInputStream(part.bytes())), part.keyGroup());
                }
            }
        };
    }

    private static final class PartsWriter implements StateWriter {
        private record Open(String name, int keyGroup, ByteArrayOutputStream bytes) {}

        private final List<Open> open = new ArrayList<>();

        @Override
        public DataOutput keyGroup(String name, int group) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            open.add(new Open(name, group, bytes));
            return new DataOutputStream(bytes);
        }

        List<Part> finish() {
            return open.stream()
                    .map(part -> new Part(part.name, part.keyGroup, part.bytes.toByteArray()))
                    .toList();
        }
    }
}
