package dev.millrace.server.gateway;

import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.MessageToByteEncoder;

/** Makes frames of messages. On the connection's event loop. */
final class FrameEncoder extends MessageToByteEncoder<Message> {
    @Override
    protected void encode(ChannelHandlerContext context, Message message, ByteBuf out) {
        out.writeBytes(MessageCodec.frame(message));
    }
}
