package dev.millrace.connectors.mqtt;

/** A broker cannot be spoken to, for now. The reason is one line, without secrets. */
final class BrokerException extends Exception {
    private static final long serialVersionUID = 1;

    BrokerException(String reason) {
        super(reason);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
