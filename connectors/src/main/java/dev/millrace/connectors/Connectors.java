package dev.millrace.connectors;

import dev.millrace.connector.SinkFactory;
import dev.millrace.connector.SourceFactory;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.connectors.avro.AvroRecordFormatFactory;
import dev.millrace.connectors.compression.CompressedFormatFactory;
import dev.millrace.connectors.csv.CsvRecordFormatFactory;
import dev.millrace.connectors.datagen.DatagenSourceFactory;
import dev.millrace.connectors.datagen.LinearRoadSourceFactory;
import dev.millrace.connectors.envelope.EnvelopeFormats;
import dev.millrace.connectors.file.BlackholeSinkFactory;
import dev.millrace.connectors.file.FileFeedFactory;
import dev.millrace.connectors.file.FileSinkFactory;
import dev.millrace.connectors.file.FileSourceFactory;
import dev.millrace.connectors.file.PrintSinkFactory;
import dev.millrace.connectors.file.StdoutSinkFactory;
import dev.millrace.connectors.http.HttpSinkFactory;
import dev.millrace.connectors.jdbc.JdbcFeedFactory;
import dev.millrace.connectors.jdbc.JdbcSinkFactory;
import dev.millrace.connectors.json.JsonRecordFormatFactory;
import dev.millrace.connectors.kafka.KafkaFeedFactory;
import dev.millrace.connectors.kafka.KafkaSinkFactory;
import dev.millrace.connectors.kafka.KafkaSourceFactory;
import dev.millrace.connectors.mqtt.MqttConnections;
import dev.millrace.connectors.mqtt.MqttSinkFactory;
import dev.millrace.connectors.mqtt.MqttSourceFactory;
import dev.millrace.connectors.nexmark.NexmarkSourceFactory;
import dev.millrace.connectors.protobuf.ProtobufRecordFormatFactory;
import dev.millrace.connectors.senml.SenmlRecordFormatFactory;
import dev.millrace.connectors.socket.SocketSourceFactory;
import dev.millrace.connectors.socket.StdinSourceFactory;
import dev.millrace.connectors.system.SystemSourceFactory;
import dev.millrace.connectors.webhook.WebhookSourceFactory;
import dev.millrace.connectors.webhook.Webhooks;
import dev.millrace.connectors.whole.WholeRecordFormatFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.format.RecordFormatFactory;
import dev.millrace.format.RecordFormats;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Sources and sinks by the name in {@code WITH (connector = '...')}. Immutable, safe on any thread. */
public final class Connectors {
    private final Map<String, SourceFactory> sources = new LinkedHashMap<>();
    private final Map<String, SinkFactory> sinks = new LinkedHashMap<>();
    private final Map<String, TableFeedFactory> feeds = new LinkedHashMap<>();
    private final Webhooks webhooks;

    /** A registry of the given factories. */
    public Connectors(List<SourceFactory> sources, List<SinkFactory> sinks) {
        this(sources, sinks, List.of());
    }

    /** A registry of the given factories, to which those of feeds come that are services. */
    public Connectors(List<SourceFactory> sources, List<SinkFactory> sinks, List<TableFeedFactory> feeds) {
        this(sources, sinks, feeds, new Webhooks());
    }

    private Connectors(
            List<SourceFactory> sources, List<SinkFactory> sinks, List<TableFeedFactory> feeds, Webhooks webhooks) {
        this.webhooks = webhooks;
        feeds.forEach(factory -> this.feeds.put(factory.name(), factory));
        sources.forEach(factory -> this.sources.put(factory.name(), factory));
        sinks.forEach(factory -> this.sinks.put(factory.name(), factory));
    }

    /** All that come with Millrace; {@code printed} is where the sink {@code print} writes to. */
    public static Connectors standard(PrintStream printed) {
        MqttConnections mqtt = new MqttConnections();
        Webhooks webhooks = new Webhooks();
        return new Connectors(
                List.of(
                        new FileSourceFactory(),
                        new KafkaSourceFactory(formats()),
                        new MqttSourceFactory(formats(), mqtt),
                        new WebhookSourceFactory(formats(), webhooks),
                        new StdinSourceFactory(formats(), () -> System.in),
                        SocketSourceFactory.tcp(formats()),
                        SocketSourceFactory.udp(formats()),
                        new SystemSourceFactory(),
                        new NexmarkSourceFactory(),
                        new DatagenSourceFactory(),
                        new LinearRoadSourceFactory()),
                List.of(
                        new FileSinkFactory(),
                        new KafkaSinkFactory(formats()),
                        new JdbcSinkFactory(),
                        new MqttSinkFactory(formats(), mqtt),
                        new HttpSinkFactory(formats()),
                        new PrintSinkFactory(printed),
                        new StdoutSinkFactory(printed),
                        new BlackholeSinkFactory()),
                List.of(
                        new JdbcFeedFactory(),
                        new KafkaFeedFactory(envelopes(), formats()),
                        new FileFeedFactory(envelopes())),
                webhooks);
    }

    /** These, and a source that somebody else makes. */
    public Connectors with(SourceFactory source) {
        List<SourceFactory> all = new ArrayList<>(sources.values());
        all.add(source);
        return new Connectors(all, List.copyOf(sinks.values()), List.copyOf(feeds.values()), webhooks);
    }

    /** Where the server finds the streams to which records are POSTed. */
    public Webhooks webhooks() {
        return webhooks;
    }

    /** All formats of records that come with Millrace or are services, of values that may be packed. */
    public static RecordFormats formats() {
        return new RecordFormats(packed(ownFormats()), () -> packed(pluginFormats()));
    }

    private static List<RecordFormatFactory> packed(List<RecordFormatFactory> plain) {
        return plain.stream()
                .<RecordFormatFactory>map(CompressedFormatFactory::new)
                .toList();
    }

    private static EnvelopeFormats envelopes() {
        return new EnvelopeFormats(new RecordFormats(ownFormats(), Connectors::pluginFormats));
    }

    private static List<RecordFormatFactory> ownFormats() {
        return List.of(
                new JsonRecordFormatFactory(),
                new CsvRecordFormatFactory(),
                new AvroRecordFormatFactory(),
                new ProtobufRecordFormatFactory(),
                new SenmlRecordFormatFactory(),
                WholeRecordFormatFactory.raw(),
                WholeRecordFormatFactory.text());
    }

    private static List<RecordFormatFactory> pluginFormats() {
        List<String> own = ownFormats().stream().map(RecordFormatFactory::name).toList();
        return Plugins.of(RecordFormatFactory.class, RecordFormatFactory::name, own);
    }

    /**
     * The source of that name.
     *
     * @throws MillraceException when there is none, suggesting the nearest
     */
    public SourceFactory source(String name) {
        Map<String, SourceFactory> all = new LinkedHashMap<>(sources);
        if (!all.containsKey(name)) {
            Plugins.of(SourceFactory.class, SourceFactory::name, sources.keySet())
                    .forEach(plugin -> all.putIfAbsent(plugin.name(), plugin));
        }
        if (!all.containsKey(name)) {
            throw unknown("source", name, all.keySet(), sinks.containsKey(name));
        }
        return all.get(name);
    }

    /**
     * The sink of that name.
     *
     * @throws MillraceException when there is none, suggesting the nearest
     */
    public SinkFactory sink(String name) {
        Map<String, SinkFactory> all = new LinkedHashMap<>(sinks);
        if (!all.containsKey(name)) {
            Plugins.of(SinkFactory.class, SinkFactory::name, sinks.keySet())
                    .forEach(plugin -> all.putIfAbsent(plugin.name(), plugin));
        }
        if (!all.containsKey(name)) {
            throw unknown("sink", name, all.keySet(), sources.containsKey(name));
        }
        return all.get(name);
    }

    /**
     * What feeds tables under that name.
     *
     * @throws MillraceException when there is nothing, suggesting the nearest
     */
    public TableFeedFactory feed(String name) {
        Map<String, TableFeedFactory> all = new LinkedHashMap<>(feeds);
        if (!all.containsKey(name)) { // looked for as late as can be: they are large
            Plugins.of(TableFeedFactory.class, TableFeedFactory::name, feeds.keySet())
                    .forEach(plugin -> all.putIfAbsent(plugin.name(), plugin));
        }
        if (!all.containsKey(name)) {
            boolean otherKind = sources.containsKey(name) || sinks.containsKey(name);
            throw unknown("source of a table", name, all.keySet(), otherKind);
        }
        return all.get(name);
    }

    public Collection<SourceFactory> sources() {
        return List.copyOf(sources.values());
    }

    public Collection<SinkFactory> sinks() {
        return List.copyOf(sinks.values());
    }

    private static MillraceException unknown(String kind, String name, Collection<String> names, boolean otherKind) {
        String article =
                otherKind ? "connector \"" + name + "\" is no " : "there is no connector \"" + name + "\" for a ";
        MillraceException error = MillraceException.user(SqlState.INVALID_PARAMETER_VALUE, article + kind);
        return Suggestion.nearest(name, names)
                .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                .orElseGet(() -> error.withHint("there are: " + String.join(", ", names)));
    }
}
