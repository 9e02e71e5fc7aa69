package dev.millrace.connector;

import java.util.Arrays;

/**
 * What a checkpoint has of a {@link CheckpointedSink}.
 *
 * @param checkpoint greater than those before
 * @param token what the sink gave for it; lay on a disk, so who reads it takes nothing for granted
 */
public record PreparedRows(long checkpoint, byte[] token) {
    /** More than a sink needs to say where its rows are. */
    public static final int MOST_TOKEN_BYTES = 1 << 20;

    public PreparedRows {
        token = token.clone();
    }

    /** The caller's. */
    @Override
    public byte[] token() {
        return token.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PreparedRows same && same.checkpoint == checkpoint && Arrays.equals(same.token, token);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(checkpoint) * 31 + Arrays.hashCode(token);
    }

    @Override
    public String toString() {
        return "rows of checkpoint " + checkpoint + ", by " + token.length + " bytes";
    }
}
