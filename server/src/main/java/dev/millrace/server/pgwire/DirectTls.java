package dev.millrace.server.pgwire;

import dev.millrace.server.tls.Tls;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import java.util.List;

/**
 * Looks at a connection's first byte: clients since PostgreSQL 17 may begin with TLS right away. They have to name the
 * protocol (ALPN), so that nobody makes a client of another protocol talk to us. Gone from the pipeline after that.
 */
final class DirectTls extends ByteToMessageDecoder {
    private static final byte HANDSHAKE = 0x16; // every other first message begins with a length, whose first byte is 0

    private final Tls tls;
    private boolean waiting; // for the certificate

    DirectTls(Tls tls) {
        this.tls = tls;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (in.getByte(in.readerIndex()) != HANDSHAKE) {
            context.pipeline().remove(this);
            return;
        }
        if (!waiting) {
            waiting = true;
            context.channel().config().setAutoRead(false);
            tls.whenReady(context.executor(), () -> begin(context), context::close);
        }
    }

    private void begin(ChannelHandlerContext context) {
        if (context.isRemoved()) {
            return; // the client went meanwhile
        }
        SslHandler handler = tls.postgresql().newHandler(context.alloc());
        handler.handshakeFuture().addListener(done -> {
            if (done.isSuccess() && !Tls.POSTGRESQL.equals(handler.applicationProtocol())) {
                context.channel().close();
            }
        });
        context.pipeline().replace(this, "tls", handler); // what was read goes on to it
        context.channel().config().setAutoRead(true);
    }
}
