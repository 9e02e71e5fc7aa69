package dev.millrace.edge.wire;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Makes messages of the parts of one connection. What comes twice is passed over; what is missing ends the connection. Not thread-safe. */
public final class BrokerPartReader {
    private int mostBytes;
    private int next;
    private byte[] rest = {};
    private int restBytes;

    /** @param mostBytes of a frame's contents */
    public BrokerPartReader(int mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** Longer frames are read from now on. */
    public void admit(int mostFrameBytes) {
        this.mostBytes = mostFrameBytes;
    }

    /** Bytes that it keeps, of a frame that is not whole. */
    public int bytes() {
        return restBytes;
    }

    /**
     * Takes a part that is not the end.
     *
     * @throws MillraceException 08P01 if one before it has not come, or it is none
     */
    public List<Message> take(BrokerPart part) {
        if (part.number() >= 0 && part.number() < next) {
            return List.of();
        }
        if (part.number() != next) {
            throw MillraceException.user(
                    SqlState.PROTOCOL_VIOLATION,
                    "the broker has lost messages: number " + part.number() + " comes, and " + next + " has not");
        }
        next++;
        if (rest.length - restBytes < part.bytes().length) {
            rest = Arrays.copyOf(
                    rest, Math.max(restBytes + part.bytes().length, Math.min(2 * restBytes, MessageCodec.MOST_BYTES)));
        }
        System.arraycopy(part.bytes(), 0, rest, restBytes, part.bytes().length);
        restBytes += part.bytes().length;
        return messages();
    }

    private List<Message> messages() {
        List<Message> messages = new ArrayList<>();
        ByteBuffer frames = ByteBuffer.wrap(rest, 0, restBytes);
        while (frames.remaining() >= MessageCodec.HEAD_BYTES) {
            int length = MessageCodec.length(frames, mostBytes);
            if (frames.remaining() < MessageCodec.HEAD_BYTES + length) {
                break;
            }
            int checksum = frames.getInt(frames.position() + 4);
            byte[] contents = new byte[length];
            frames.position(frames.position() + MessageCodec.HEAD_BYTES).get(contents);
            messages.add(MessageCodec.read(checksum, contents));
        }
        if (frames.position() > 0) {
            restBytes = frames.remaining();
            rest = restBytes == 0 ? new byte[0] : Arrays.copyOfRange(rest, frames.position(), frames.limit());
        }
        return messages;
    }
}
