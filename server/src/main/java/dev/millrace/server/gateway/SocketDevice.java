package dev.millrace.server.gateway;

import dev.millrace.edge.wire.Message;
import dev.millrace.error.MillraceException;
import dev.millrace.server.log.EventLog;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.timeout.ReadTimeoutException;
import java.io.IOException;

/** A device that has connected to the port. On its event loop. */
final class SocketDevice extends SimpleChannelInboundHandler<Message> implements DeviceChannel {
    private static final EventLog LOG = EventLog.named("edge");

    private final SocketChannel channel;
    private final FrameDecoder decoder;
    private final EdgeConnection connection;

    SocketDevice(EdgeGateway gateway, SocketChannel channel, FrameDecoder decoder) {
        this.channel = channel;
        this.decoder = decoder;
        this.connection = new EdgeConnection(gateway, this);
    }

    EdgeConnection connection() {
        return connection;
    }

    @Override
    public void execute(Runnable work) {
        channel.eventLoop().execute(work);
    }

    @Override
    public void read(boolean wanted) {
        channel.config().setAutoRead(wanted);
    }

    @Override
    public boolean isWritable() {
        return channel.isWritable();
    }

    @Override
    public boolean isOpen() {
        return channel.isActive();
    }

    @Override
    public void admit() {
        decoder.admit();
    }

    @Override
    public boolean mayBe(String device) {
        return true;
    }

    @Override
    public String address() {
        return channel.remoteAddress() == null
                ? ""
                : channel.remoteAddress().getAddress().getHostAddress() + ":"
                        + channel.remoteAddress().getPort();
    }

    @Override
    public void send(Message message) {
        channel.writeAndFlush(message);
    }

    @Override
    public void sendLast(Message message) {
        channel.writeAndFlush(message).addListener(ChannelFutureListener.CLOSE);
    }

    @Override
    public void close() {
        channel.close();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Message message) {
        connection.take(message);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        connection.readOrWait();
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        connection.ended();
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof DecoderException && cause.getCause() instanceof MillraceException e) {
            connection.refuse(e, true);
            return;
        }
        if (!(cause instanceof IOException) && !(cause instanceof ReadTimeoutException)) {
            LOG.warning("ends a connection of a device", "address", address(), "reason", String.valueOf(cause));
        }
        channel.close();
    }
}
