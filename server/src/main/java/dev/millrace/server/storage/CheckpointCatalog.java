package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the server says in a checkpoint beside the engine: the definitions as of then.
 *
 * <p>Section {@code catalog}: lines of JSON. The first is {@code {"version": 4, "record": number, "counters": {table: {column: number}}, "ahead":
 * record, "kept": {section: file}, "log": identity, "streams": {number:
 * record}}};
 * each other is a record as {@code catalog.log} has them, and all of them together make the definitions. Version 1, in which a checkpoint was one file
 * with all rows of an answer in section {@code answer QUERY}, has no {@code kept}, and is read, as is
 * version 2, which did not say which log it was of, and version 3, which has no {@code streams}.
 *
 * @param record the number of the last record of {@code catalog.log} that is in it
 * @param records that make these definitions of none
 * @param counters how far those of each table's columns were
 * @param ahead the last of the records, if {@code catalog.log} was about to have it: a statement that alters what keeps state is kept
 *     when the state that it made is
 * @param kept sections that this checkpoint has in files of earlier ones, which it names; all others are in the file of this section
 * @param log the identity of the log of rows that goes on from it; none of versions 1 and 2
 * @param streams of each stream that keeps its rows, by its number, the last record of that log whose rows were in its own files
 */
public record CheckpointCatalog(
        long record,
        List<CatalogRecord> records,
        Map<String, Map<String, Long>> counters,
        Optional<CatalogRecord> ahead,
        Map<String, String> kept,
        OptionalLong log,
        Map<Long, Long> streams) {
    static final String SECTION = "catalog";
    private static final int VERSION = 4;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    public CheckpointCatalog {
        records = List.copyOf(records);
        counters = Map.copyOf(counters);
        kept = Map.copyOf(kept);
        streams = Map.copyOf(streams);
    }

    /** The same of a checkpoint that has some sections in files of earlier ones. */
    CheckpointCatalog keeping(Map<String, String> sections) {
        return new CheckpointCatalog(record, records, counters, ahead, sections, log, streams);
    }

    /** The numbers of its objects ({@link KeptObject#number}): one that was altered since has another. */
    public Set<Long> numbers() {
        return KeptCatalog.of(records).objects().stream()
                .flatMapToLong(object -> object.number().stream())
                .boxed()
                .collect(Collectors.toSet());
    }

    String write() {
        ObjectNode head = MAPPER.createObjectNode();
        head.put("version", VERSION).put("record", record);
        head.set("counters", MAPPER.valueToTree(new TreeMap<>(counters)));
        ahead.ifPresent(next -> head.put("ahead", RecordJson.write(next)));
        if (!kept.isEmpty()) {
            head.set("kept", MAPPER.valueToTree(new TreeMap<>(kept)));
        }
        log.ifPresent(identity -> head.put("log", Long.toHexString(identity)));
        if (!streams.isEmpty()) {
            head.set("streams", MAPPER.valueToTree(new TreeMap<>(streams)));
        }
        StringBuilder text = new StringBuilder(head.toString()).append('\n');
        records.forEach(each -> text.append(RecordJson.write(each)).append('\n'));
        return text.toString();
    }

    static CheckpointCatalog read(String text) throws JsonProcessingException {
        List<String> lines = text.lines().toList();
        JsonNode head = MAPPER.readTree(lines.isEmpty() ? "" : lines.get(0));
        int version = head.path("version").asInt();
        if (version < 1 || version > VERSION || !head.path("record").isIntegralNumber()) {
            throw new NumberFormatException("they are of version " + head.path("version"));
        }
        Map<String, Map<String, Long>> counters = new TreeMap<>();
        head.path("counters").fields().forEachRemaining(table -> {
            Map<String, Long> columns = new TreeMap<>();
            table.getValue()
                    .fields()
                    .forEachRemaining(column ->
                            columns.put(column.getKey(), column.getValue().asLong()));
            counters.put(table.getKey(), columns);
        });
        List<CatalogRecord> records = new ArrayList<>();
        for (String line : lines.subList(1, lines.size())) {
            records.add(RecordJson.read(line));
        }
        Optional<CatalogRecord> ahead = head.has("ahead")
                ? Optional.of(RecordJson.read(head.path("ahead").asText()))
                : Optional.empty();
        Map<String, String> kept = new TreeMap<>();
        head.path("kept")
                .fields()
                .forEachRemaining(
                        section -> kept.put(section.getKey(), section.getValue().asText()));
        OptionalLong log = head.has("log")
                ? OptionalLong.of(Long.parseUnsignedLong(head.path("log").asText(), 16))
                : OptionalLong.empty();
        Map<Long, Long> streams = new TreeMap<>();
        head.path("streams")
                .fields()
                .forEachRemaining(stream -> streams.put(
                        Long.parseLong(stream.getKey()), stream.getValue().asLong()));
        return new CheckpointCatalog(head.path("record").asLong(), records, counters, ahead, kept, log, streams);
    }
}
