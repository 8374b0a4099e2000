// philox
