package dev.millrace.server.config;

import java.time.Duration;

/**
 * What a client may take of the server before anybody knows who it is. A duration of zero is for ever.
 *
 * @param headers how long from the connection to the end of its first request's headers
 * @param body how long for the body of a request, and a second more for every {@value #LEAST_BODY_BYTES} bytes of it that came
 * @param idle how long a connection may stay between requests, and an answer may wait for a client that does not read
 * @param mostPerAddress connections of one address (of IPv6 one network of 64 bits); more are only told of the server's health
 */
public record HttpLimits(Duration headers, Duration body, Duration idle, int mostPerAddress) {
    /** Of a body, in a second. */
    public static final int LEAST_BODY_BYTES = 64 << 10;

    public static HttpLimits defaults() {
        return new HttpLimits(Duration.ofSeconds(10), Duration.ofSeconds(30), Duration.ofSeconds(60), 500);
    }
}
