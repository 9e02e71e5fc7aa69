package dev.millrace.connectors.mqtt;

import dev.millrace.connector.Options;
import java.net.URI;

/** Where a broker is. */
record BrokerAddress(String host, int port) {
    private static final int PORT = 1883;
    private static final int TLS_PORT = 8883;

    /** @throws dev.millrace.error.MillraceException 22023 if the text is no address; does not show it, as it may be a secret */
    static BrokerAddress of(String url, String shown) {
        try {
            URI address = URI.create(url);
            String host = address.getHost();
            if (host != null && address.getUserInfo() == null) {
                int port = address.getPort();
                int standard = isTls(url) ? TLS_PORT : PORT;
                return new BrokerAddress(host.replaceAll("[\\[\\]]", ""), port < 0 ? standard : port);
            }
        } catch (IllegalArgumentException e) {
            // falls through to the one message for both
        }
        throw Options.invalid("url", shown, MqttBroker.URL);
    }

    static boolean isTls(String url) {
        return url.matches("(?is)(mqtts|ssl)://.*");
    }
}
