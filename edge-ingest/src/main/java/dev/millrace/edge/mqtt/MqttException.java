package dev.millrace.edge.mqtt;

import java.io.IOException;

/** What a broker says or sends that is of no use. The message is one line, without secrets. */
public final class MqttException extends IOException {
    private static final long serialVersionUID = 1;

    public MqttException(String message) {
        super(message);
    }
}
