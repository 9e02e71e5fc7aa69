package dev.millrace.connectors.mqtt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.connector.SinkHome;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The connections to brokers of one database: one for all streams and sinks that say the same of a broker (shared connections; Pluto, chapter 3). Safe
 * on any thread.
 *
 * <p>A broker may send a message once for each of a client's filters that it matches, or once for all, and says in 3.1.1 not for which. So streams share a connection
 * only where no topic can be of two different filters; another one gets a connection of its own, and goes on having it.
 */
public final class MqttConnections {
    /** For a database without a directory. */
    private final String unnamed = UUID.randomUUID().toString().substring(0, 8);

    @GuardedBy("this") private final List<MqttConnection> open = new ArrayList<>();

    /** The connection for a subscription, which is added to it. */
    synchronized MqttConnection subscribe(MqttBroker broker, MqttSubscription subscription, Clock clock) {
        String shared = sharedId(broker, subscription.database().orElse(unnamed), subscription.isPersistent());
        String id = subscription
                .rememberedClient()
                .orElseGet(() -> find(broker, shared)
                        .filter(there -> !there.admits(subscription))
                        .map(full -> shared + "-"
                                + Integer.toHexString(subscription.stream().hashCode()))
                        .orElse(shared));
        MqttConnection connection = get(broker, new BrokerSession(id, subscription.isPersistent()), clock);
        connection.add(subscription);
        return connection;
    }

    /**
     * The connection for a sink; who has it calls {@link MqttConnection#release}.
     *
     * @param isApart whether it is not to be one that streams have
     */
    synchronized MqttConnection publish(MqttBroker broker, Optional<SinkHome> home, boolean isApart, Clock clock) {
        boolean isPersistent = !isApart && broker.terms().persistent().orElse(home.isPresent());
        String id = sharedId(broker, home.map(SinkHome::database).orElse(unnamed), isPersistent);
        MqttConnection connection = get(broker, new BrokerSession(isApart ? id + "-2" : id, isPersistent), clock);
        connection.retain();
        return connection;
    }

    @GuardedBy("this") private MqttConnection get(MqttBroker broker, BrokerSession session, Clock clock) {
        return find(broker, session.clientId()).orElseGet(() -> {
            MqttConnection fresh = new MqttConnection(broker, session, clock, this::closed);
            open.add(fresh);
            return fresh;
        });
    }

    @GuardedBy("this") private Optional<MqttConnection> find(MqttBroker broker, String clientId) {
        return open.stream()
                .filter(each -> each.session().clientId().equals(clientId)
                        && each.broker().terms().equals(broker.terms()))
                .findFirst();
    }

    /** Nobody has it any more, unless somebody took it at this moment. */
    private synchronized void closed(MqttConnection connection) {
        open.remove(connection);
    }

    private static String sharedId(MqttBroker broker, String database, boolean isPersistent) {
        return broker.terms()
                        .clientId()
                        .orElseGet(() -> "millrace-" + database + "-"
                                + Integer.toHexString(broker.terms().hashCode()))
                + (isPersistent ? "" : "-c");
    }
}
