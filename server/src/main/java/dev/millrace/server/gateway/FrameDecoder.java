package dev.millrace.server.gateway;

import dev.millrace.edge.wire.MessageCodec;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;

/** Makes messages of frames; of who has not said who it is only short ones. On the connection's event loop. */
final class FrameDecoder extends ByteToMessageDecoder {
    private int mostBytes = MessageCodec.MOST_HELLO_BYTES;

    void admit() {
        mostBytes = MessageCodec.MOST_BYTES;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (in.readableBytes() < MessageCodec.HEAD_BYTES) {
            return;
        }
        int length = MessageCodec.length(in.nioBuffer(in.readerIndex(), MessageCodec.HEAD_BYTES), mostBytes);
        if (in.readableBytes() < MessageCodec.HEAD_BYTES + length) {
            return;
        }
        in.skipBytes(4);
        int checksum = in.readInt();
        byte[] contents = new byte[length];
        in.readBytes(contents);
        out.add(MessageCodec.read(checksum, contents));
    }
}
