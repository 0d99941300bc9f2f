"""HTTP connections and requests before they reach a route: middleware, bodies, time limits."""
