package dev.millrace.connectors.mqtt;

import io.netty.handler.codec.mqtt.MqttConnectReturnCode;
import io.netty.handler.codec.mqtt.MqttProperties;
import io.netty.handler.codec.mqtt.MqttReasonCodes;
import io.netty.handler.ssl.NotSslRecordException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertificateException;
import java.util.Locale;
import javax.net.ssl.SSLException;

/** What a broker, or the way to it, has against us: in one line, for users. */
final class BrokerReason {
    private static final String REFUSED = "CONNECTION_REFUSED_";

    private BrokerReason() {}

    static String of(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            root = cause;
        }
        String message = root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
        String line = message.replaceAll("\\s+", " ").strip();
        if (root instanceof UnknownHostException) {
            return "unknown host " + line;
        }
        if (root instanceof ClosedChannelException) {
            return "it closed the connection";
        }
        if (root instanceof NotSslRecordException) {
            return "it does not speak TLS";
        }
        if (root instanceof CertificateException || root instanceof CertPathBuilderException) {
            return "its certificate is not trusted: " + line;
        }
        if (root instanceof SSLException) {
            boolean isRefused = line.contains("Received fatal alert"); // later JDKs say which one before that, too
            return isRefused ? "it refuses our part of TLS: " + line : "TLS: " + line;
        }
        return line;
    }

    /** Of an answer to CONNECT. */
    static String of(MqttConnectReturnCode code, MqttProperties properties) {
        String name = code.name().startsWith(REFUSED) ? code.name().substring(REFUSED.length()) : code.name();
        return "it refuses the connection: " + words(name.replaceAll("_5$", "")) + said(properties);
    }

    /** Of an answer to a message. */
    static String ofAnswer(byte code, MqttProperties properties) {
        return words(MqttReasonCodes.PubAck.valueOf(code).name()) + said(properties);
    }

    /** Of a subscription. */
    static String ofSubscription(int code) {
        return words(MqttReasonCodes.SubAck.valueOf((byte) code).name());
    }

    /** Of its good-bye. */
    static String ofEnd(byte code, MqttProperties properties) {
        return "it ended the connection: "
                + words(MqttReasonCodes.Disconnect.valueOf(code).name()) + said(properties);
    }

    private static String words(String name) {
        return name.toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static String said(MqttProperties properties) {
        MqttProperties.MqttProperty<?> text = properties.getProperty(MqttProperties.REASON_STRING);
        return text == null
                ? ""
                : " (" + text.value().toString().replaceAll("\\s+", " ").strip() + ")";
    }
}
