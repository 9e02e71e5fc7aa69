package dev.millrace.server.storage;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.server.storage.CatalogRecord.Access;
import dev.millrace.sql.statement.Commented;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Records as JSON; the package says of what form. */
public final class RecordJson {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String NUMERIC = "numeric";
    private static final String UNLIMITED = "unlimited"; // what it means where a record says so

    private RecordJson() {}

    public static String write(CatalogRecord record) {
        ObjectNode root = MAPPER.createObjectNode();
        if (!record.changes().isEmpty()) {
            ArrayNode changes = root.putArray("changes");
            record.changes().forEach(change -> write(change, changes.addObject()));
        }
        record.access().ifPresent(access -> {
            access.roles().forEach(root.putArray("roles")::add);
            root.set("owners", MAPPER.valueToTree(new TreeMap<>(access.owners())));
            access.grants().forEach(root.putArray("grants")::add);
        });
        record.settings().ifPresent(settings -> root.set("settings", MAPPER.valueToTree(new TreeMap<>(settings))));
        record.logs().ifPresent(logs -> write(logs, root.putObject("logs")));
        record.mark().ifPresent(mark -> root.put("with", mark));
        try {
            return MAPPER.writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of texts can be written", e);
        }
    }

    private static void write(CatalogChange change, ObjectNode to) {
        if (change instanceof CatalogChange.Define define) {
            KeptObject object = define.object();
            to.put("define", object.name())
                    .put("kind", object.kind())
                    .put("sql", object.sql())
                    .put("at", object.createdMicros())
                    .put("owner", object.owner());
            object.jar().ifPresent(hash -> to.put("jar", hash));
            object.number().ifPresent(number -> to.put("rows", number));
            if (object.since() > 0) {
                to.put("since", object.since());
            }
            if (!object.basis().isEmpty()) {
                to.set("basis", MAPPER.valueToTree(new TreeMap<>(object.basis())));
            }
            if (object.numeric() == PlainNumeric.UNLIMITED) {
                to.put(NUMERIC, UNLIMITED);
            }
        } else if (change instanceof CatalogChange.Drop drop) {
            to.put("drop", drop.name());
        } else if (change instanceof CatalogChange.Pause pause) {
            to.put(pause.since().isPresent() ? "pause" : "resume", pause.name());
            pause.since().ifPresent(since -> to.put("since", since));
        } else if (change instanceof CatalogChange.Comment comment) {
            Commented on = comment.on();
            to.put("comment", on.name());
            if (on.kind() != Commented.Kind.THING) {
                to.put(on.kind().name().toLowerCase(Locale.ROOT), on.part());
            }
            comment.text().ifPresent(text -> to.put("text", text));
        }
    }

    private static void write(Map<String, KnownLog> logs, ObjectNode to) {
        new TreeMap<>(logs)
                .forEach((name, log) -> to.putObject(name)
                        .put("identity", Long.toHexString(log.identity()))
                        .put("last", log.last()));
    }

    private static Optional<Map<String, KnownLog>> logs(JsonNode object) {
        if (!object.isObject()) {
            return Optional.empty();
        }
        Map<String, KnownLog> logs = new TreeMap<>();
        object.fields()
                .forEachRemaining(field -> logs.put(
                        field.getKey(),
                        new KnownLog(
                                Long.parseUnsignedLong(
                                        field.getValue().path("identity").asText("0"), 16),
                                field.getValue().path("last").asLong())));
        return Optional.of(logs);
    }

    /** @throws JsonProcessingException if it is not JSON, or lacks what it needs */
    public static CatalogRecord read(String json) throws JsonProcessingException {
        JsonNode root = MAPPER.readTree(json);
        List<CatalogChange> changes = new ArrayList<>();
        root.path("changes").forEach(change -> changes.add(change(change)));
        Optional<Access> access = root.has("roles")
                ? Optional.of(
                        new Access(texts(root.path("roles")), map(root.path("owners")), texts(root.path("grants"))))
                : Optional.empty();
        Optional<Map<String, String>> settings =
                root.has("settings") ? Optional.of(map(root.path("settings"))) : Optional.empty();
        OptionalLong mark = root.has("with") ? OptionalLong.of(root.path("with").asLong()) : OptionalLong.empty();
        return new CatalogRecord(changes, access, settings, logs(root.path("logs")), mark);
    }

    private static CatalogChange change(JsonNode change) {
        if (change.has("define")) {
            return new CatalogChange.Define(new KeptObject(
                    change.path("define").asText(),
                    change.path("kind").asText(),
                    change.path("sql").asText(),
                    change.path("at").asLong(),
                    change.path("owner").asText(),
                    Optional.ofNullable(change.get("jar")).map(JsonNode::asText),
                    change.path("rows").asLong() > 0
                            ? OptionalLong.of(change.path("rows").asLong())
                            : OptionalLong.empty(),
                    change.path("since").asLong(),
                    basis(change.path("basis")),
                    OptionalLong.empty(),
                    change.path(NUMERIC).asText().equals(UNLIMITED) ? PlainNumeric.UNLIMITED : PlainNumeric.LIMITED));
        } else if (change.has("drop")) {
            return new CatalogChange.Drop(change.path("drop").asText());
        } else if (change.has("comment")) {
            return new CatalogChange.Comment(
                    commented(change), Optional.ofNullable(change.get("text")).map(JsonNode::asText));
        }
        return change.has("pause")
                ? new CatalogChange.Pause(
                        change.path("pause").asText(),
                        OptionalLong.of(change.path("since").asLong()))
                : new CatalogChange.Pause(change.path("resume").asText(), OptionalLong.empty());
    }

    private static Commented commented(JsonNode change) {
        String name = change.path("comment").asText();
        for (Commented.Kind kind : Commented.Kind.values()) {
            String part = kind.name().toLowerCase(Locale.ROOT);
            if (change.has(part)) {
                return new Commented(kind, name, change.path(part).asText());
            }
        }
        return Commented.thing(name);
    }

    private static Map<String, Double> basis(JsonNode object) {
        Map<String, Double> basis = new TreeMap<>();
        object.fields()
                .forEachRemaining(
                        field -> basis.put(field.getKey(), field.getValue().asDouble()));
        return basis;
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(text -> texts.add(text.asText()));
        return texts;
    }

    private static Map<String, String> map(JsonNode object) {
        Map<String, String> map = new TreeMap<>();
        object.fields()
                .forEachRemaining(
                        field -> map.put(field.getKey(), field.getValue().asText()));
        return map;
    }
}
