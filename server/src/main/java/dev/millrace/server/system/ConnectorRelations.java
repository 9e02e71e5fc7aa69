package dev.millrace.server.system;

import static dev.millrace.server.system.SystemRelations.bigint;
import static dev.millrace.server.system.SystemRelations.bool;
import static dev.millrace.server.system.SystemRelations.real;
import static dev.millrace.server.system.SystemRelations.text;
import static dev.millrace.server.system.SystemRelations.timestamp;

import dev.millrace.connector.SinkStatus;
import dev.millrace.connector.SplitStatus;
import dev.millrace.edge.wire.Message;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.SplitStatistics;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** What connectors tell: how queries are with what they read from and write to, and which secrets there are. */
final class ConnectorRelations {
    private static final double MICROS_PER_SECOND = 1e6;

    private final Instance database;

    ConnectorRelations(Instance database) {
        this.database = database;
    }

    List<SystemRelation> all() {
        return List.of(
                new SystemRelation(
                        "millrace.sources",
                        "how queries are with each split (partition) of the sources that they read, and streams with those who push to them",
                        Schema.of(
                                text("query"),
                                text("stream"),
                                text("split"),
                                text("position"),
                                bigint("lag_records"),
                                real("lag_seconds"),
                                bigint("records"),
                                real("records_per_second"),
                                bigint("retries"),
                                text("last_error"),
                                text("waits_for"),
                                bigint("shed_records")),
                        this::sources),
                new SystemRelation(
                        "millrace.sinks",
                        "how sinks are with what they write to",
                        Schema.of(
                                text("sink"),
                                text("target"),
                                bigint("records"),
                                bigint("waiting_records"),
                                real("silent_seconds"),
                                text("last_error"),
                                text("waits_for")),
                        this::sinks),
                new SystemRelation(
                        "millrace.edges",
                        "devices that send to streams of connector edge, and how they say that they are",
                        Schema.of(
                                text("device"),
                                text("stream"),
                                bool("connected"),
                                text("address"),
                                text("agent"),
                                timestamp("last_seen"),
                                real("clock_offset_seconds"),
                                real("round_trip_seconds"),
                                bigint("rows"),
                                bigint("segments"),
                                bigint("segment_bytes"),
                                bigint("backlog_rows"),
                                bigint("backlog_bytes"),
                                bigint("open_rows"),
                                bigint("rejected_rows"),
                                bigint("unneeded_rows"),
                                bigint("window_rows"),
                                bigint("shed_rows"),
                                bigint("coarser_rows"),
                                bigint("lost_segments"),
                                bigint("segments_twice"),
                                bigint("segments_early"),
                                bigint("segments_damaged"),
                                text("settings"),
                                bool("settings_done"),
                                text("problem")),
                        this::edges),
                new SystemRelation(
                        "millrace.secrets",
                        "names of secrets, and what refers to them",
                        Schema.of(text("name"), text("used_by")),
                        this::secrets));
    }

    private void sources(RowBuilder rows) {
        for (StandingQuery query : standing()) {
            for (SplitStatistics each : query.statistics().splits()) {
                source(rows, Optional.of(query.name()), each.relation(), each.split());
            }
        }
        database.splitsOfNoQuery().forEach(each -> source(rows, Optional.empty(), each.relation(), each.split()));
    }

    private static void source(RowBuilder rows, Optional<String> query, String relation, SplitStatus split) {
        rows.row(
                query,
                relation,
                split.split(),
                Optional.of(split.position()).filter(position -> !position.isEmpty()),
                boxed(split.lagRecords()),
                boxed(split.lagMicros()).map(micros -> micros / MICROS_PER_SECOND),
                split.records(),
                split.recordsPerSecond(),
                split.retries(),
                split.lastError(),
                split.waitsFor(),
                split.shed());
    }

    private void sinks(RowBuilder rows) {
        for (StandingQuery query : standing()) {
            for (SinkStatus sink : query.statistics().sinks()) {
                rows.row(
                        query.name(),
                        sink.target(),
                        sink.records(),
                        sink.waiting(),
                        sink.silentMicros() / MICROS_PER_SECOND,
                        sink.lastError(),
                        sink.waitsFor());
            }
        }
    }

    private void edges(RowBuilder rows) {
        for (EdgeStatus edge : database.edgeInlets().status()) {
            Optional<Message.Status> told = edge.told();
            rows.row(
                    edge.device(),
                    edge.stream(),
                    edge.connection().up(),
                    some(edge.connection().address()),
                    some(edge.connection().agent()),
                    boxed(edge.seen().micros()),
                    edge.seen().offsetMicros() / MICROS_PER_SECOND,
                    edge.seen().roundTripMicros() / MICROS_PER_SECOND,
                    edge.kept().rows(),
                    edge.kept().segments(),
                    edge.kept().bytes(),
                    told.map(Message.Status::backlogRows),
                    told.map(Message.Status::backlogBytes),
                    told.map(Message.Status::openRows),
                    told.map(Message.Status::rejected),
                    told.map(Message.Status::unneeded),
                    edge.kept().windowRows(),
                    Math.max(edge.kept().shedRows(), edge.shedding().shedRows()),
                    edge.shedding().coarserRows(),
                    Math.max(edge.kept().lostSegments(), edge.shedding().lostSegments()),
                    edge.dropped().twice(),
                    edge.dropped().early(),
                    edge.dropped().damaged(),
                    some(edge.steering().settings().strip().replace("\n", ", ")),
                    edge.steering().number() == edge.steering().done(),
                    some(edge.problem())
                            .or(() -> told.map(Message.Status::problem).flatMap(ConnectorRelations::some)));
        }
    }

    private static Optional<String> some(String text) {
        return Optional.of(text).filter(given -> !given.isEmpty());
    }

    private static Optional<Long> boxed(OptionalLong number) {
        return number.isPresent() ? Optional.of(number.getAsLong()) : Optional.empty();
    }

    private void secrets(RowBuilder rows) {
        for (String name : database.secrets().names()) {
            rows.row(name, String.join(", ", database.secrets().users(name, database.catalog())));
        }
    }

    private Iterable<StandingQuery> standing() {
        return new TreeMap<>(database.queries()).values();
    }
}
