package dev.millrace.server.system;

import static dev.millrace.server.catalog.SystemRelation.Column.bigint;
import static dev.millrace.server.catalog.SystemRelation.Column.bool;
import static dev.millrace.server.catalog.SystemRelation.Column.real;
import static dev.millrace.server.catalog.SystemRelation.Column.text;
import static dev.millrace.server.catalog.SystemRelation.Column.timestamp;

import dev.millrace.connector.SinkStatus;
import dev.millrace.connector.SplitStatus;
import dev.millrace.edge.wire.Message;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.SplitStatistics;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.device.EdgeStatus;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.rows.RowBuilder;
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
                SystemRelation.of(
                        "millrace.sources",
                        "how queries are with each split (partition) of the sources that they read, and streams with those who push to them",
                        List.of(
                                text(
                                        "query",
                                        "the query that reads; NULL where none does, and a stream hears those who push to it"),
                                text("stream", "the stream that is read"),
                                text("split", "the partition, file or subscription"),
                                text("position", "what is read next"),
                                bigint(
                                        "lag_records",
                                        "records that are there and were not read yet; NULL if that is not known"),
                                real(
                                        "lag_seconds",
                                        "how long ago the last record that was read was written, while there are more; 0 if there are none"),
                                bigint("records", "records read since the reader was opened"),
                                real("records_per_second", "records of the last seconds"),
                                bigint("retries", "tries since the last that succeeded; 0 if all is well"),
                                text("last_error", "the last failure since the reader was opened"),
                                text("waits_for", "what it cannot go on without: a broker, a topic, a schema"),
                                bigint(
                                        "shed_records",
                                        "records thrown away since the reader was opened, as more came than could wait and their sender would not")),
                        this::sources),
                SystemRelation.of(
                        "millrace.sinks",
                        "how sinks are with what they write to",
                        List.of(
                                text("sink", "its name"),
                                text("target", "where its rows go"),
                                bigint("records", "records that the outside has taken since the sink was opened"),
                                bigint(
                                        "waiting_records",
                                        "records that the outside was given and has not acknowledged"),
                                real(
                                        "silent_seconds",
                                        "how long it has acknowledged none of those; 0 if there are none"),
                                text("last_error", "the last failure since the sink was opened"),
                                text("waits_for", "what it cannot go on without")),
                        this::sinks),
                SystemRelation.of(
                        "millrace.edges",
                        "devices that send to streams of connector edge, and how they say that they are",
                        List.of(
                                text("device", "the name by which it is enrolled"),
                                text("stream", "the stream that it sends to; a row for each"),
                                bool("connected", "whether there is a connection on which the stream is open"),
                                text("address", "of the device; NULL without a connection"),
                                text("agent", "the program that the device runs"),
                                timestamp("last_seen", "when it said something last"),
                                real("clock_offset_seconds", "by how much the server's clock is ahead of the device's"),
                                real("round_trip_seconds", "how long a message takes to the device and back"),
                                bigint("rows", "rows that came, ever"),
                                bigint("segments", "segments that came, ever, those of partial aggregates among them"),
                                bigint("segment_bytes", "bytes of these segments"),
                                bigint("backlog_rows", "rows at the device in segments that are not acknowledged"),
                                bigint("backlog_bytes", "bytes of these segments"),
                                bigint("open_rows", "rows at the device in segments that are not closed yet"),
                                bigint("rejected_rows", "records at the device that were no rows, ever"),
                                bigint("unneeded_rows", "rows that stayed at the device, as no query needs them, ever"),
                                bigint(
                                        "window_rows",
                                        "rows that stayed at the device and came as partial aggregates of windows, ever"),
                                bigint("shed_rows", "rows that the device threw away for want of room, ever"),
                                bigint("coarser_rows", "rows that the device made coarser for want of room, ever"),
                                bigint("lost_segments", "segments that the device lost, ever"),
                                bigint("segments_twice", "segments that came once more and were dropped"),
                                bigint(
                                        "segments_early",
                                        "segments that came before those they stand on and were dropped, to be sent again"),
                                bigint("segments_damaged", "segments that were not as they were sent and were dropped"),
                                text("settings", "what ALTER STREAM .. EDGE has set for it"),
                                bool("settings_done", "whether the device has acknowledged these settings"),
                                text(
                                        "problem",
                                        "why nothing is taken of it, or settings were refused, or what is wrong with its input")),
                        this::edges),
                SystemRelation.of(
                        "millrace.secrets",
                        "names of secrets, and what refers to them",
                        List.of(
                                text("name", "its name; nobody is told what it is"),
                                text("used_by", "streams, tables and sinks that refer to it")),
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
