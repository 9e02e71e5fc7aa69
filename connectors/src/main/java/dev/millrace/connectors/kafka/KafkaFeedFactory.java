package dev.millrace.connectors.kafka;

import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connector.TableFeed;
import dev.millrace.connector.TableFeedFactory;
import dev.millrace.connectors.envelope.Envelope;
import dev.millrace.connectors.envelope.EnvelopeFeed;
import dev.millrace.connectors.envelope.EnvelopeFormats;
import dev.millrace.error.MillraceException;
import dev.millrace.format.RecordFormats;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;

/** Tables that are kept by topics with records of changes: {@code connector = 'kafka'} of CREATE TABLE. */
public final class KafkaFeedFactory implements TableFeedFactory {
    private final EnvelopeFormats envelopes;
    private final KafkaSourceFactory source;

    /** @param formats of values that may be packed, for what is told of options */
    public KafkaFeedFactory(EnvelopeFormats envelopes, RecordFormats formats) {
        this.envelopes = envelopes;
        this.source = new KafkaSourceFactory(formats);
    }

    @Override
    public String name() {
        return "kafka";
    }

    @Override
    public TableFeed create(String table, Schema declared, List<Integer> key, Options options) {
        options.names().stream()
                .filter(name -> name.startsWith("include."))
                .findFirst()
                .ifPresent(name -> {
                    throw MillraceException.notAvailableYet("option \"" + name + "\" of a table");
                });
        Source changes = KafkaSourceFactory.create(declared, options, envelopes.ofTable(key));
        String topics =
                options.text("topic").or(() -> options.text("topic.pattern")).orElse("");
        return new EnvelopeFeed(changes, topics, declared, key);
    }

    @Override
    public List<OptionDescription> options() {
        List<OptionDescription> all = new ArrayList<>(Envelope.DESCRIPTIONS);
        source.options().stream()
                .filter(option -> !option.name().startsWith("include."))
                .forEach(all::add);
        return List.copyOf(all);
    }
}
