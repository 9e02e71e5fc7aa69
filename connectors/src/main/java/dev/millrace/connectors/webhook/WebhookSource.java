package dev.millrace.connectors.webhook;

import dev.millrace.connector.PushedContext;
import dev.millrace.connector.PushedReader;
import dev.millrace.connector.PushedSource;
import dev.millrace.connectors.push.ArrivalQueue;
import dev.millrace.connectors.push.PushedRecords;
import dev.millrace.connectors.push.RecordReceiver;
import dev.millrace.type.Schema;
import java.util.Optional;

/**
 * What is POSTed to a path of the database's HTTP port.
 *
 * @param path without what all begin with
 * @param keyHeader in lower case
 * @param mostKeys that are remembered
 */
record WebhookSource(
        Webhooks webhooks,
        String path,
        PushedRecords records,
        boolean isJson,
        Optional<BodySignature> signature,
        String keyHeader,
        int mostKeys,
        long timeoutMillis,
        long bufferBytes)
        implements PushedSource {
    /** What the paths of all webhooks begin with. */
    static final String PREFIX = "/ingest/";

    @Override
    public Schema schema() {
        return records.schema();
    }

    @Override
    public PushedReader receive(PushedContext context) {
        ArrivalQueue inbox = new ArrivalQueue(bufferBytes);
        return new RecordReceiver(records, context, inbox, new Webhook(this, context, inbox));
    }
}
