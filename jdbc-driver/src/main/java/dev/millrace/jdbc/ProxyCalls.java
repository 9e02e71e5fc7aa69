package dev.millrace.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Wrapper;

/** Passes calls on to the object behind a proxy. */
final class ProxyCalls {
    private ProxyCalls() {}

    /** Calls the same method of another object, and throws what it throws. */
    static Object pass(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    /** Calls the same method of another object, but answers what the proxy itself is asked: whether it is equal, or wraps. */
    static Object passOrAnswer(Wrapper target, Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "equals":
                return proxy == arguments[0];
            case "hashCode":
                return System.identityHashCode(proxy);
            case "unwrap":
                return ((Class<?>) arguments[0]).isInstance(proxy) ? proxy : pass(target, method, arguments);
            case "isWrapperFor":
                return ((Class<?>) arguments[0]).isInstance(proxy) || (boolean) pass(target, method, arguments);
            default:
                return pass(target, method, arguments);
        }
    }
}
